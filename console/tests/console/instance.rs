//! What operators keep for all teams: shared hash lists, and tokens of their own.

use domain::{image_hash::ListKind, role::Role, scope::Scope};
use management::{
    Caller,
    hash_lists::{self, NewHashList},
    tokens,
};
use poem::http::StatusCode;
use sqlx::PgPool;
use uuid::Uuid;

use crate::{
    browser::{PASSWORD, Stage, between},
    items::encoded,
    seed::{HOSTILE, is_harmless},
};

const LISTS: &str = "/instance/hash-lists";
const TOKENS: &str = "/instance/tokens";

#[sqlx::test(migrations = false)]
async fn an_operator_keeps_a_shared_list_and_teams_see_only_that_it_exists(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut operator = stage.person("ops@example.com", Role::Operator).await;
    let empty = operator.get(LISTS).await.text;
    assert!(
        empty.contains("Shared hash lists") && empty.contains("Create the first list"),
        "{empty}"
    );
    let wrong = operator
        .post(
            &format!("{LISTS}/new"),
            "name=&kind=deny&max_distance=31&description=",
        )
        .await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.text.contains("id=\"name-problem\""), "{}", wrong.text);
    let form = format!(
        "name=Known&kind=deny&max_distance=31&description={}",
        encoded(HOSTILE)
    );
    let created = operator.post(&format!("{LISTS}/new"), &form).await;
    let list = created.leads_to().split('?').next().unwrap().to_owned();
    assert!(list.starts_with(LISTS), "{list}");
    assert_eq!(stage.last("hash_list.create").await.0, "ops@example.com");

    let hash = "ab".repeat(32);
    let added = operator
        .post(&format!("{list}/entries"), &format!("pdq={hash}&note=Seen"))
        .await;
    assert_eq!(added.leads_to(), format!("{list}?done=hash-added"));
    let page = operator.get(&list).await.text;
    assert!(
        page.contains(&hash) && page.contains("1 entries") && is_harmless(&page),
        "{page}"
    );
    // Operators see no items, so none can be named.
    assert!(!page.contains("ID of the item"), "{page}");
    let import = operator
        .post(&format!("{list}/imports"), "algorithm=pdq&hashes=x")
        .await;
    let shown = operator.get(import.leads_to()).await;
    assert_eq!(shown.status, StatusCode::OK, "{}", shown.text);
    let scan = operator
        .post(&format!("{list}/scans"), "since_revision=")
        .await;
    let shown = operator.get(scan.leads_to()).await;
    assert_eq!(shown.status, StatusCode::OK, "{}", shown.text);
    let scans = operator.get(&format!("{list}/scans")).await.text;
    assert!(scans.contains("items of all teams"), "{scans}");
    let saved = operator
        .post(
            &format!("{list}/settings"),
            "name=Known+images&description=&max_distance=10",
        )
        .await;
    assert_eq!(saved.leads_to(), format!("{list}/settings?done=saved"));

    // A team uses it, and sees nothing of what is on it.
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let id = list.rsplit_once('/').unwrap().1;
    let seen = admin
        .get(&format!("/t/{}/hash-lists/{id}", stage.team))
        .await
        .text;
    assert!(
        seen.contains("This list is shared") && !seen.contains(&hash),
        "{seen}"
    );

    let wrong = operator
        .post(&format!("{list}/delete"), "typed=Known")
        .await;
    assert!(
        wrong.text.contains("id=\"typed-problem\""),
        "{}",
        wrong.text
    );
    let deleted = operator
        .post(&format!("{list}/delete"), "typed=Known+images")
        .await;
    assert_eq!(
        deleted.leads_to(),
        format!("{LISTS}?done=hash-list-deleted")
    );
}

#[sqlx::test(migrations = false)]
async fn lists_of_teams_are_not_among_those_of_the_instance(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let new = |team, name: &str| NewHashList {
        name: name.parse().unwrap(),
        description: None,
        kind: ListKind::Deny,
        max_distance: None,
        team,
    };
    let caller = Caller::command_line(&stage.management);
    let own = hash_lists::create(&caller, new(Some(stage.team), "Of a team"))
        .await
        .unwrap();
    hash_lists::create(&caller, new(None, "Of all"))
        .await
        .unwrap();
    let mut operator = stage.person("ops@example.com", Role::Operator).await;
    let listed = operator.get(LISTS).await.text;
    assert!(
        listed.contains("Of all") && !listed.contains("Of a team"),
        "{listed}"
    );
    let there = operator.get(&format!("{LISTS}/{}", own.id)).await;
    let missing = operator.get(&format!("{LISTS}/{}", Uuid::now_v7())).await;
    assert_eq!(there.status, StatusCode::NOT_FOUND);
    assert_eq!((there.status, there.text), (missing.status, missing.text));
}

#[sqlx::test(migrations = false)]
async fn an_operator_makes_a_token_that_can_do_no_more_than_operators(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let mut operator = stage.person("ops@example.com", Role::Operator).await;
    let new = format!("{TOKENS}/new");
    let page = operator.get(&format!("{new}?preset=operator")).await.text;
    assert_eq!(
        page.matches(" checked").count(),
        Role::Operator.scopes().len(),
        "{page}"
    );
    assert!(!page.contains("media:read"), "{page}");
    let beyond = operator
        .post(&new, "name=Watch&scope=queues%3Aread&scope=media%3Aread")
        .await;
    assert_eq!(beyond.status, StatusCode::FORBIDDEN, "{}", beyond.text);

    let form = format!("name={}&scope=queues%3Aread", encoded(HOSTILE));
    sqlx::query("update sessions set password_at = now() - interval '1 hour'")
        .execute(&pool)
        .await
        .unwrap();
    let asked = operator.post(&new, &form).await;
    assert_eq!(asked.status, StatusCode::FORBIDDEN, "{}", asked.text);
    assert!(asked.text.contains("password_again"), "{}", asked.text);
    let again = format!("{form}&password_again={}", PASSWORD.replace(' ', "+"));
    let shown = operator.post(&new, &again).await;
    assert_eq!(shown.status, StatusCode::OK, "{}", shown.text);
    assert!(!shown.text.contains("<script>alert"), "{}", shown.text);
    let secret = between(&shown.text, "class=\"secret\">", "<");
    let hash = secret
        .parse::<domain::key::ManagementToken>()
        .unwrap()
        .hash();
    let token = Caller::token(&stage.management, hash, "r".to_owned());
    management::queues::list(&token).await.unwrap();
    assert_eq!(stage.last("token.create").await.0, "ops@example.com");
}

#[sqlx::test(migrations = false)]
async fn tokens_of_the_instance_are_listed_without_those_of_teams(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let issue = async |name: &str, team, scopes: &[Scope]| {
        let new = tokens::NewToken {
            name: name.parse().unwrap(),
            team,
            scopes: scopes.to_vec(),
            expires_at: None,
        };
        let issued = tokens::create(&Caller::command_line(&stage.management), &new).await;
        issued.unwrap().token.id
    };
    issue("Of a team", Some(stage.team), &[Scope::SitesRead]).await;
    let own = issue("Watch", None, &[Scope::QueuesRead]).await;
    let stronger = issue("Everything", None, Scope::ALL).await;
    let mut operator = stage.person("ops@example.com", Role::Operator).await;
    let listed = operator.get(TOKENS).await.text;
    assert!(
        listed.contains(">Watch</a>") && listed.contains(">Everything</a>"),
        "{listed}"
    );
    assert!(!listed.contains("Of a team"), "{listed}");

    let page = operator.get(&format!("{TOKENS}/{stronger}")).await.text;
    assert!(
        page.contains("has scopes that you do not have") && !page.contains("Disable</button>"),
        "{page}"
    );
    let refused = operator
        .post(&format!("{TOKENS}/{stronger}/disable"), "typed=Everything")
        .await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.text);
    let done = operator
        .post(&format!("{TOKENS}/{own}/disable"), "typed=Watch")
        .await;
    let shown = operator.get(done.leads_to()).await.text;
    assert!(shown.contains("The token was disabled."), "{shown}");
    assert_eq!(stage.last("token.disable").await.0, "ops@example.com");

    // The use case itself refuses a token of a team.
    let new = tokens::NewToken {
        name: "Reader".parse().unwrap(),
        team: Some(stage.team),
        scopes: vec![Scope::TokensRead],
        expires_at: None,
    };
    let issued = tokens::create(&Caller::command_line(&stage.management), &new).await;
    let caller = Caller::token(
        &stage.management,
        issued.unwrap().secret.hash(),
        "r".to_owned(),
    );
    let page = management::sites::Page {
        after: None,
        limit: 9,
    };
    let refused = tokens::of_operators(&caller, page).await;
    assert!(refused.is_err(), "{refused:?}");
}
