//! People: invitations, roles, links to a new password, sessions, and the team's rule for signing in.

use domain::role::Role;
use poem::http::{Method, StatusCode};
use sqlx::PgPool;
use uuid::Uuid;

use crate::browser::{Browser, PASSWORD, Stage, between};

/// What a stranger could choose as a name.
const HOSTILE: &str = "<script>alert(1)</script>\"'&\u{202e}\u{2066}x";

fn people(stage: &Stage) -> String {
    format!("/t/{}/people", stage.team)
}

/// The page of a person whom the list names.
async fn page_of(stage: &Stage, email: &str) -> String {
    let id = sqlx::query_scalar::<_, Uuid>(
        "select m.id from memberships m join users u on u.id = m.user_id where u.email = $1",
    );
    let pool = &stage.management.pool;
    let id = id.bind(email).fetch_one(pool).await.unwrap();
    format!("{}/{id}", people(stage))
}

/// Follows an invitation as somebody with this name.
async fn join(stage: &Stage, link: &str, name: &str) -> Browser {
    let mut browser = stage.browser();
    let form = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("name", name)
        .append_pair("password", PASSWORD)
        .finish();
    let answer = browser.post(link, &form).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
    browser
}

#[sqlx::test(migrations = false)]
async fn an_owner_invites_somebody_with_a_link_that_is_shown_once(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut owner = stage.person("owner@market.example", Role::Owner).await;
    let invite = format!("{}/invite", people(&stage));
    assert!(
        owner
            .get(&people(&stage))
            .await
            .text
            .contains("Invite somebody")
    );

    for (form, told) in [
        ("email=nobody&role=viewer", "Must be an e-mail address"),
        (
            "email=ada%40market.example&role=king",
            "Must be one of the roles",
        ),
        (
            "email=ada%40market.example&role=viewer&sites=some",
            "Only moderators are limited to some sites",
        ),
        (
            "email=ada%40market.example&role=moderator&sites=some",
            "Must have 1 to 1000",
        ),
    ] {
        let wrong = owner.post(&invite, form).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(wrong.text.contains(told), "{form}: {}", wrong.text);
        assert!(wrong.text.contains("class=\"problem\""), "at its field");
    }
    let form = "email=Ada%40market.example&role=moderator&sites=all";
    let headers = [("sec-fetch-site", "same-origin"), ("host", "desk.example")];
    let shown = owner.send(Method::POST, &invite, form, &headers).await;
    assert_eq!(shown.status, StatusCode::OK, "{}", shown.text);
    let url = between(&shown.text, "class=\"secret\">", "<");
    let link = url.strip_prefix("https://desk.example").unwrap().to_owned();
    let (who, request) = stage.last("invitation.create").await;
    assert_eq!(who, "owner@market.example");
    assert!(request.is_some());

    let open = owner.get(&format!("{}/invitations", people(&stage))).await;
    assert!(open.text.contains("ada@market.example") && !open.text.contains(&link));

    let mut hostile = join(&stage, &link, HOSTILE).await;
    let listed = owner.get(&people(&stage)).await.text;
    assert!(!listed.contains("<script>alert"), "{listed}");
    assert!(listed.contains("&#60;script&#62;alert(1)"), "{listed}");
    let theirs = page_of(&stage, "ada@market.example").await;
    let shown = owner.get(&theirs).await.text;
    assert!(!shown.contains("<script>alert") && shown.contains("moderator"));

    let refused = hostile.get(&invite).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let shown = hostile.get(&people(&stage)).await.text;
    assert!(
        !shown.contains("Invite somebody") && !shown.contains("sign-in-rule"),
        "{shown}"
    );
}

#[sqlx::test(migrations = false)]
async fn an_invitation_that_is_withdrawn_leads_nowhere(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let link = stage.invitation("eve@market.example", Role::Viewer).await;
    stage.invitation("boss@market.example", Role::Owner).await;
    let list = format!("{}/invitations", people(&stage));
    let shown = admin.get(&list).await.text;
    assert!(shown.contains("boss@market.example"));
    assert_eq!(
        shown.matches("/cancel\"").count(),
        1,
        "an admin withdraws no owner: {shown}"
    );

    let cancel = format!(
        "{list}/{}/cancel",
        between(&shown, "people/invitations/", "/cancel")
    );
    let done = admin.post(&cancel, "").await;
    let shown = admin.get(done.leads_to()).await.text;
    assert!(shown.contains("The invitation was withdrawn") && !shown.contains("eve@"));
    assert_eq!(
        stage.browser().get(&link).await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        stage.last("invitation.cancel").await.0,
        "admin@market.example"
    );
    assert_eq!(admin.post(&cancel, "").await.status, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrations = false)]
async fn an_admin_changes_whom_the_admin_may_and_is_not_offered_owners(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut owner = stage.person("owner@market.example", Role::Owner).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let theirs = page_of(&stage, "viewer@market.example").await;
    let created = owner
        .post(&format!("/t/{}/sites/new", stage.team), "name=Forum&group=")
        .await;
    let site = between(&created.text, "/sites/", "\"").to_owned();

    let form = format!("role=moderator&sites=some&site={site}");
    let changed = admin.post(&theirs, &form).await;
    let shown = admin.get(changed.leads_to()).await.text;
    assert!(
        shown.contains("The change applies at once.") && shown.contains(">Forum</dd>"),
        "{shown}"
    );
    assert!(
        !shown.contains("value=\"owner\""),
        "an admin makes no owner: {shown}"
    );
    assert_eq!(stage.last("person.update").await.0, "admin@market.example");
    let foreign = Uuid::now_v7();
    let wrong = admin
        .post(
            &theirs,
            &format!("role=moderator&sites=some&site={foreign}"),
        )
        .await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong.text.contains("Is no site of the team."),
        "{}",
        wrong.text
    );
    let refused = admin.post(&theirs, "role=owner&sites=all").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.text);

    let boss = page_of(&stage, "owner@market.example").await;
    let shown = admin.get(&boss).await.text;
    for button in [
        "Make a link",
        "Disable</button>",
        "Change</button>",
        "/end\"",
    ] {
        assert!(!shown.contains(button), "{button}: {shown}");
    }
    for what in ["", "/disable", "/password-link"] {
        let refused = admin
            .post(&format!("{boss}{what}"), "role=viewer&sites=all")
            .await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{what}");
    }
    let own = owner.get(&boss).await.text;
    assert!(
        own.contains("the team's only owner") || own.contains("This is the team&#39;s only owner"),
        "{own}"
    );
    assert!(!own.contains("Disable</button>"), "{own}");
    let last = owner.post(&format!("{boss}/disable"), "").await;
    assert_eq!(last.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        last.text.contains("make somebody else an owner first"),
        "{}",
        last.text
    );

    let disabled = owner.post(&format!("{theirs}/disable"), "").await;
    let shown = owner.get(disabled.leads_to()).await.text;
    assert!(shown.contains("The person was disabled") && shown.contains("badge no\">disabled"));
    assert_eq!(viewer.get(&people(&stage)).await.leads_to(), "/sign-in");
    assert_eq!(stage.last("person.disable").await.0, "owner@market.example");
    let shown = owner.get(&theirs).await.text;
    assert!(
        shown.contains("Another invitation") && !shown.contains("Disable</button>"),
        "{shown}"
    );
}

#[sqlx::test(migrations = false)]
async fn a_lost_password_is_replaced_by_a_link_and_a_session_is_ended(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let theirs = page_of(&stage, "viewer@market.example").await;
    let listed = admin.get(&people(&stage)).await.text;
    assert_eq!(
        listed.matches("just now</time>").count(),
        2,
        "last seen: {listed}"
    );

    let shown = admin.get(&theirs).await.text;
    let session = between(&shown, "/sessions/", "/end").to_owned();
    let ended = admin
        .post(&format!("{theirs}/sessions/{session}/end"), "")
        .await;
    assert!(
        admin
            .get(ended.leads_to())
            .await
            .text
            .contains("The session was ended.")
    );
    assert_eq!(viewer.get(&people(&stage)).await.leads_to(), "/sign-in");
    assert_eq!(stage.last("session.end").await.0, "admin@market.example");

    let headers = [
        ("sec-fetch-site", "same-origin"),
        ("host", "localhost:8081"),
    ];
    let link = format!("{theirs}/password-link");
    let shown = admin.send(Method::POST, &link, "", &headers).await.text;
    let url = between(&shown, "class=\"secret\">", "<");
    let link = url.strip_prefix("http://localhost:8081").unwrap();
    let set = viewer.post(link, "password=walrus+lemon+quartz").await;
    assert_eq!(set.leads_to(), "/sign-in?done=password-set");
    assert_eq!(
        stage.last("password_reset.create").await.0,
        "admin@market.example"
    );

    // A person of another team, too: the link would be a way into that team.
    let other = stage.with_another_team().await;
    let second = other
        .invitation("viewer@market.example", Role::Viewer)
        .await;
    let joined = other
        .browser()
        .post(&second, "password=walrus+lemon+quartz")
        .await;
    assert_eq!(joined.status, StatusCode::SEE_OTHER, "{}", joined.text);
    let refused = admin.post(&format!("{theirs}/password-link"), "").await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        refused.text.contains("This person is in other teams, too"),
        "{}",
        refused.text
    );
    assert!(
        refused
            .text
            .contains("shown for those who are in one team only")
    );
    let listed = admin.get(theirs.rsplit_once('/').unwrap().0).await.text;
    assert_eq!(
        listed.matches("just now</time>").count(),
        1,
        "not of the other team: {listed}"
    );
}

#[sqlx::test(migrations = false)]
async fn the_rule_for_a_second_factor_applies_at_once(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let rule = format!("{}/sign-in-rule", people(&stage));
    assert_eq!(
        viewer.post(&rule, "factor_required=yes").await.status,
        StatusCode::FORBIDDEN
    );
    let done = admin.post(&rule, "factor_required=yes").await;
    let shown = admin.get(done.leads_to()).await.text;
    assert!(
        shown.contains("second factor for everybody") && shown.contains("checked"),
        "{shown}"
    );
    assert_eq!(
        viewer.get(&people(&stage)).await.leads_to(),
        "/account/factor"
    );
    assert_eq!(stage.last("sign_in.update").await.0, "admin@market.example");
    admin.post(&rule, "").await;
    assert_eq!(viewer.get(&people(&stage)).await.status, StatusCode::OK);
}

#[sqlx::test(migrations = false)]
async fn a_person_of_another_team_is_as_one_who_does_not_exist(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let own = stage.team;
    let other = stage.with_another_team().await;
    other.person("stranger@other.example", Role::Viewer).await;
    let foreign = page_of(&other, "stranger@other.example").await;
    let foreign = foreign.rsplit_once('/').unwrap().1.to_owned();
    let missing = Uuid::now_v7().to_string();
    let before = other.changes().await;
    for what in ["", "/disable", "/password-link"] {
        let path = |id: &str| format!("/t/{own}/people/{id}{what}");
        let form = "role=viewer&sites=all";
        let (theirs, none) = (
            admin.post(&path(&foreign), form).await,
            admin.post(&path(&missing), form).await,
        );
        assert_eq!(
            (theirs.status, &theirs.text),
            (none.status, &none.text),
            "{what}"
        );
        assert_eq!(theirs.status, StatusCode::NOT_FOUND, "{what}");
    }
    let path = |id: &str| format!("/t/{own}/people/{id}");
    let (theirs, none) = (
        admin.get(&path(&foreign)).await,
        admin.get(&path(&missing)).await,
    );
    assert_eq!((theirs.status, theirs.text), (none.status, none.text));
    let theirs = admin.get(&people(&other)).await;
    let none = admin.get(&format!("/t/{missing}/people")).await;
    assert_eq!((theirs.status, theirs.text), (none.status, none.text));
    assert_eq!(other.changes().await, before);
}
