//! Sites: the list, and a new one.

mod keys;
mod overview;
mod secret;
mod settings;

use domain::{id::SiteId, role::Role, rules::InputRules};
use management::{
    Caller,
    provisioning::{self, NewSite},
};
use poem::http::StatusCode;
use sqlx::PgPool;
use url::form_urlencoded::Serializer;

use crate::browser::{Browser, Stage};

/// What a page must show as text. The last character turns the direction of what follows.
pub(crate) const HOSTILE: &str = "<script>alert(1)</script>\"'&\u{202e}";

/// The same as HTML.
pub(crate) const ESCAPED: &str = "&#60;script&#62;alert(1)&#60;/script&#62;&#34;&#39;&#38;\u{202e}";

/// A site of the stage's team.
pub(crate) async fn site(stage: &Stage, name: &str) -> SiteId {
    let new = NewSite {
        name: name.parse().unwrap(),
        group: name.parse().unwrap(),
        rules: InputRules::default(),
    };
    let caller = Caller::command_line(&stage.management);
    let made = provisioning::site(&caller, stage.team, new).await;
    made.unwrap().0.site.id
}

/// A form.
pub(crate) fn form(pairs: &[(&str, &str)]) -> String {
    let mut form = Serializer::new(String::new());
    form.extend_pairs(pairs);
    form.finish()
}

/// Who did these things, by the audit log.
pub(crate) async fn audited(pool: &PgPool, action: &str) -> Vec<String> {
    sqlx::query_scalar(
        "
        select u.email
        from audit_log l
        join memberships m on m.id = l.actor_id
        join users u on u.id = m.user_id
        where l.action = $1 and l.actor = 'member' and l.request_id is not null
        ",
    )
    .bind(action)
    .fetch_all(pool)
    .await
    .unwrap()
}

/// Asserts that a site's pages are answered alike whether the site is another team's or nobody's.
async fn assert_unknown(stage: &Stage, browser: &mut Browser, places: &[&str]) {
    let name = "Other".parse().unwrap();
    let caller = Caller::command_line(&stage.management);
    let other = management::teams::create(&caller, &name, None);
    let new = NewSite {
        name: "Foreign".parse().unwrap(),
        group: "Foreign".parse().unwrap(),
        rules: InputRules::default(),
    };
    let other = other.await.unwrap().id;
    let made = provisioning::site(&caller, other, new).await;
    let foreign = made.unwrap().0.site.id;
    let nobody = SiteId::from(uuid::Uuid::now_v7());
    for place in places {
        let at = |site: SiteId| format!("/t/{}/sites/{site}{place}", stage.team);
        let (theirs, none) = (
            browser.get(&at(foreign)).await,
            browser.get(&at(nobody)).await,
        );
        assert_eq!(theirs.status, StatusCode::NOT_FOUND, "{place}");
        assert_eq!(none.status, StatusCode::NOT_FOUND, "{place}");
        assert_eq!(theirs.text, none.text, "{place}");
    }
}

#[sqlx::test(migrations = false)]
async fn an_owner_creates_a_site_and_a_viewer_is_not_offered_it(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let path = format!("/t/{}/sites", stage.team);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let empty = admin.get(&path).await;
    assert!(
        empty.text.contains("Create the first site"),
        "{}",
        empty.text
    );

    let wrong = admin.post(&format!("{path}/new"), "name=&group=").await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong.text.contains("Must have 1 to 100 characters"),
        "{}",
        wrong.text
    );
    let created = admin
        .post(&format!("{path}/new"), "name=Forum+%3Cb%3E&group=")
        .await;
    assert_eq!(created.status, StatusCode::OK, "{}", created.text);
    assert!(created.text.contains("whsec_"), "{}", created.text);
    let listed = admin.get(&path).await.text;
    assert!(listed.contains("Forum &#60;b&#62;"), "{listed}");

    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let shown = viewer.get(&path).await.text;
    assert!(!shown.contains("New site"), "{shown}");
    let refused = viewer
        .post(&format!("{path}/new"), "name=Mine&group=")
        .await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
}

#[sqlx::test(migrations = false)]
async fn a_taken_name_is_told_at_its_field(pool: PgPool) {
    let stage = Stage::new(pool).await;
    site(&stage, "Forum").await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let path = format!("/t/{}/sites/new", stage.team);
    let taken = admin.post(&path, "name=Forum&group=").await;
    assert_eq!(
        taken.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{}",
        taken.text
    );
    assert!(
        taken
            .text
            .contains("<p class=\"problem\" id=\"name-problem\">Another one has this name"),
        "{}",
        taken.text
    );
    assert!(taken.text.contains("value=\"Forum\""), "{}", taken.text);
}

#[sqlx::test(migrations = false)]
async fn a_card_tells_what_a_site_has(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let forum = site(&stage, HOSTILE).await;
    let caller = Caller::command_line(&stage.management);
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let path = format!("/t/{}/sites", stage.team);
    let listed = viewer.get(&path).await.text;
    assert!(listed.contains("no key"), "{listed}");
    assert_eq!(listed.matches(ESCAPED).count(), 2, "the site and its group");
    assert!(!listed.contains("<script>alert"), "{listed}");
    for _ in 0..2 {
        management::site_keys::create(&caller, forum).await.unwrap();
    }
    let listed = viewer.get(&path).await.text;
    assert!(listed.contains("<dt>Keys</dt><dd>2</dd>"), "{listed}");
    assert!(!listed.contains("no key"), "{listed}");
}
