//! Tokens: a new one, the list, and disabling.

use domain::{role::Role, scope::Scope};
use management::{Caller, tokens};
use poem::http::StatusCode;
use sqlx::PgPool;
use uuid::Uuid;

use crate::browser::{Stage, between};

#[sqlx::test(migrations = false)]
async fn an_owner_creates_a_token_that_is_shown_once(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let path = format!("/t/{}/tokens", stage.team);
    let new = format!("{path}/new");
    let mut owner = stage.person("owner@market.example", Role::Owner).await;
    assert!(
        owner
            .get(&path)
            .await
            .text
            .contains("Create the first token")
    );

    let preset = owner.get(&format!("{new}?preset=viewer")).await.text;
    assert_eq!(
        preset.matches(" checked").count(),
        Role::Viewer.scopes().len(),
        "{preset}"
    );
    assert!(
        !preset.contains("plans:write"),
        "a token does no more than its creator"
    );
    for (form, told) in [
        ("name=&scope=sites%3Aread", "Must have 1 to 100 characters"),
        ("name=Deploy", "Must have at least one"),
        (
            "name=Deploy&scope=sites%3Aread&expires_on=soon",
            "Must be a day",
        ),
        (
            "name=Deploy&scope=sites%3Aread&expires_on=2020-01-01",
            "Must be in the future",
        ),
    ] {
        let wrong = owner.post(&new, form).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{form}");
        assert!(
            wrong.text.contains(told) && wrong.text.contains("class=\"problem\""),
            "{}",
            wrong.text
        );
        let ticked = form.matches("scope=").count();
        assert_eq!(
            wrong.text.matches(" checked").count(),
            ticked,
            "what was ticked stays"
        );
    }
    let form = "name=%3Cscript%3Ealert(1)%3C%2Fscript%3E%22%27%26%E2%80%AEx&scope=sites%3Aread&scope=sites%3Awrite&expires_on=2999-12-31";
    let shown = owner.post(&new, form).await;
    assert_eq!(shown.status, StatusCode::OK, "{}", shown.text);
    assert!(!shown.text.contains("<script>alert"));
    let secret = between(&shown.text, "class=\"secret\">", "<").to_owned();
    assert!(secret.starts_with("mgmt_"), "{secret}");
    assert_eq!(stage.last("token.create").await.0, "owner@market.example");
    let token = Caller::token(
        &stage.management,
        secret
            .parse::<domain::key::ManagementToken>()
            .unwrap()
            .hash(),
        "r".to_owned(),
    );
    let page = management::sites::Page {
        after: None,
        limit: 9,
    };
    management::sites::list(&token, page).await.unwrap();

    let listed = owner.get(&path).await.text;
    assert!(!listed.contains(&secret) && !listed.contains("<script>alert"));
    assert!(
        listed.contains("&#60;script&#62;alert(1)") && listed.contains("31 Dec 2999"),
        "{listed}"
    );
    assert!(listed.contains(">Ada</td>"), "who created it: {listed}");
}

#[sqlx::test(migrations = false)]
async fn a_token_is_disabled_with_those_below_it_if_its_name_is_typed(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let path = format!("/t/{}/tokens", stage.team);
    let mut owner = stage.person("owner@market.example", Role::Owner).await;
    let form = "name=Deploy&scope=tokens%3Aread&scope=tokens%3Awrite&scope=sites%3Aread";
    let shown = owner.post(&format!("{path}/new"), form).await.text;
    let secret = between(&shown, "class=\"secret\">", "<");
    let id = between(&shown, "/tokens/", "\"")
        .split('/')
        .next()
        .unwrap()
        .to_owned();
    let id = if id.parse::<Uuid>().is_ok() {
        id
    } else {
        let (_, rest) = shown.split_once("Go on").unwrap_or((&shown, ""));
        panic!("no id in {rest}");
    };
    let caller = || {
        let hash = secret
            .parse::<domain::key::ManagementToken>()
            .unwrap()
            .hash();
        Caller::token(&stage.management, hash, "r".to_owned())
    };
    let below = tokens::NewToken {
        name: "Below".parse().unwrap(),
        team: None,
        scopes: vec![Scope::SitesRead],
        expires_at: None,
    };
    tokens::create(&caller(), &below).await.unwrap();

    let page = format!("{path}/{id}");
    let shown = owner.get(&page).await.text;
    assert!(
        shown.contains("Tokens that it created") && shown.contains(">Below</a>"),
        "{shown}"
    );
    let wrong = owner
        .post(&format!("{page}/disable"), "typed=deploy&below=yes")
        .await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.text.contains("This is not the name of the token."));
    let done = owner
        .post(&format!("{page}/disable"), "typed=Deploy&below=yes")
        .await;
    let shown = owner.get(done.leads_to()).await.text;
    assert!(
        shown.contains("The token was disabled.") && !shown.contains("Disable</button>"),
        "{shown}"
    );
    assert_eq!(shown.matches("badge no\">disabled").count(), 2, "{shown}");
    assert_eq!(stage.last("token.disable").await.0, "owner@market.example");
    let page = management::sites::Page {
        after: None,
        limit: 9,
    };
    assert!(management::sites::list(&caller(), page).await.is_err());
}

#[sqlx::test(migrations = false)]
async fn a_token_of_another_team_or_with_more_scopes_is_not_disabled(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut owner = stage.person("owner@market.example", Role::Owner).await;
    let other = stage.with_another_team().await;
    let issue = async |team, scope| {
        let new = tokens::NewToken {
            name: "Machine".parse().unwrap(),
            team: Some(team),
            scopes: vec![scope],
            expires_at: None,
        };
        let issued = tokens::create(&Caller::command_line(&stage.management), &new).await;
        issued.unwrap().token.id.to_string()
    };
    let foreign = issue(other.team, Scope::SitesRead).await;
    let stronger = issue(stage.team, Scope::PlansWrite).await;
    let missing = Uuid::now_v7().to_string();
    let path = |id: &str| format!("/t/{}/tokens/{id}", stage.team);
    let (theirs, none) = (
        owner.get(&path(&foreign)).await,
        owner.get(&path(&missing)).await,
    );
    assert_eq!((theirs.status, theirs.text), (none.status, none.text));
    let form = "typed=Machine";
    let theirs = owner
        .post(&format!("{}/disable", path(&foreign)), form)
        .await;
    let none = owner
        .post(&format!("{}/disable", path(&missing)), form)
        .await;
    assert_eq!((theirs.status, theirs.text), (none.status, none.text));

    let shown = owner.get(&path(&stronger)).await.text;
    assert!(
        shown.contains("the command line") && !shown.contains("Disable</button>"),
        "{shown}"
    );
    let refused = owner
        .post(&format!("{}/disable", path(&stronger)), form)
        .await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let refused = admin.get(&format!("/t/{}/tokens", stage.team)).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let shown = admin.get(&format!("/t/{}/people", stage.team)).await.text;
    assert!(
        !shown.contains("/tokens\"") && !shown.contains("/audit\""),
        "{shown}"
    );
}
