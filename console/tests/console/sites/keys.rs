//! The keys of a site.

use domain::{id::SiteId, role::Role};
use management::{
    Caller,
    site_keys::{self, KeyRecord},
    sites::Page,
};
use poem::http::StatusCode;
use sqlx::PgPool;

use super::{ESCAPED, HOSTILE, audited, form, site};
use crate::browser::{Stage, between};

async fn keys(stage: &Stage, site: SiteId) -> Vec<KeyRecord> {
    let page = Page {
        after: None,
        limit: 100,
    };
    let caller = Caller::command_line(&stage.management);
    let keys = site_keys::list(&caller, site, page).await;
    keys.unwrap()
}

#[sqlx::test(migrations = false)]
async fn a_key_is_created_shown_once_and_disabled(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, HOSTILE).await;
    let path = format!("/t/{}/sites/{forum}/keys", stage.team);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let empty = admin.get(&path).await.text;
    assert!(empty.contains("No key yet"), "{empty}");
    assert!(empty.contains("/functions/v1/submit-media"), "{empty}");

    let created = admin.post(&path, "").await;
    assert_eq!(created.status, StatusCode::OK, "{}", created.text);
    let secret = between(
        &created.text,
        "<code class=\"secret\" id=\"secret\">",
        "</code>",
    );
    let [key] = keys(&stage, forum).await.try_into().unwrap();
    assert!(secret.ends_with(&key.hint), "{secret}");
    let example = format!("\"api_key\": \"{secret}\"");
    let pre = between(&created.text, "<pre>", "</pre>");
    assert!(pre.replace("&#34;", "\"").contains(&example), "{pre}");
    assert_eq!(audited(&pool, "key.create").await.len(), 1);

    let listed = admin.get(&path).await.text;
    assert!(!listed.contains(secret), "it is shown once");
    assert!(
        listed.contains(&format!("<code>{}</code>", key.hint)),
        "{listed}"
    );
    assert!(listed.contains(">never</span>"), "{listed}");
    let used = "
        insert into rate_windows (site_key_id, policy, minute, allowed, wanted, share, given, scarce, holders)
        values ($1, 'submit', now() - interval '3 hours 1 minute', 1, 1, 1, 1, false, '{}')";
    sqlx::query(used)
        .bind(key.id.as_uuid())
        .execute(&pool)
        .await
        .unwrap();
    let listed = admin.get(&path).await.text;
    assert!(listed.contains(">3 h ago</time>"), "{listed}");

    let disable = format!("{path}/{}", key.id);
    let asked = admin.get(&disable).await;
    assert_eq!(asked.status, StatusCode::OK, "{}", asked.text);
    for typed in ["", "x", "yes"] {
        let wrong = admin.post(&disable, &form(&[("typed", typed)])).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(
            wrong.text.contains("id=\"typed-problem\""),
            "{}",
            wrong.text
        );
    }
    assert!(keys(&stage, forum).await[0].disabled_at.is_none());
    let done = admin.post(&disable, &form(&[("typed", &key.hint)])).await;
    assert_eq!(done.leads_to(), format!("{path}?done=key-disabled"));
    assert!(keys(&stage, forum).await[0].disabled_at.is_some());
    assert_eq!(audited(&pool, "key.disable").await.len(), 1);
    let listed = admin.get(done.leads_to()).await.text;
    assert!(listed.contains("<span class=\"badge\">disabled</span>"));
    assert!(listed.contains("The key was disabled."), "{listed}");
}

#[sqlx::test(migrations = false)]
async fn all_keys_are_replaced_after_the_name_was_typed(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, HOSTILE).await;
    let caller = Caller::command_line(&stage.management);
    for _ in 0..2 {
        site_keys::create(&caller, forum).await.unwrap();
    }
    let path = format!("/t/{}/sites/{forum}/keys", stage.team);
    let rotate = format!("{path}/rotate");
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let asked = admin.get(&rotate).await.text;
    assert!(asked.contains("All 2 keys that work now stop"), "{asked}");
    assert!(asked.contains(ESCAPED), "{asked}");
    let wrong = admin.post(&rotate, &form(&[("typed", "Forum")])).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    let told = "id=\"typed-problem\">Must be the name of the site.";
    assert!(wrong.text.contains(told), "{}", wrong.text);

    let rotated = admin.post(&rotate, &form(&[("typed", HOSTILE)])).await;
    assert_eq!(rotated.status, StatusCode::OK, "{}", rotated.text);
    assert!(rotated.text.contains("have stopped working"));
    let now = keys(&stage, forum).await;
    let work: Vec<&KeyRecord> = now.iter().filter(|key| key.disabled_at.is_none()).collect();
    let secret = between(
        &rotated.text,
        "<code class=\"secret\" id=\"secret\">",
        "</code>",
    );
    assert_eq!((now.len(), work.len()), (3, 1));
    assert!(secret.ends_with(&work[0].hint), "{secret}");
    assert_eq!(audited(&pool, "key.rotate").await, ["admin@market.example"]);
}

#[sqlx::test(migrations = false)]
async fn the_limit_of_the_plan_is_told(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, "Forum").await;
    sqlx::query("update plans set site_keys_per_team = 0")
        .execute(&pool)
        .await
        .unwrap();
    let path = format!("/t/{}/sites/{forum}/keys", stage.team);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let refused = admin.post(&path, "").await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    let told = "The plan allows 0 site keys of a team";
    assert!(refused.text.contains(told), "{}", refused.text);
    assert!(keys(&stage, forum).await.is_empty());
}

#[sqlx::test(migrations = false)]
async fn a_viewer_sees_keys_and_changes_none(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, "Forum").await;
    let caller = Caller::command_line(&stage.management);
    let key = site_keys::create(&caller, forum).await;
    let key = key.unwrap().key;
    let path = format!("/t/{}/sites/{forum}/keys", stage.team);
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let shown = viewer.get(&path).await;
    assert_eq!(shown.status, StatusCode::OK, "{}", shown.text);
    assert!(shown.text.contains(&key.hint), "{}", shown.text);
    for button in ["New key", "Replace keys…", "Disable…"] {
        assert!(!shown.text.contains(button), "{button}");
    }
    let (rotate, disable) = (format!("{path}/rotate"), format!("{path}/{}", key.id));
    for opened in [&rotate, &disable] {
        assert_eq!(viewer.get(opened).await.status, StatusCode::FORBIDDEN);
    }
    for (sent_to, sent) in [
        (&path, String::new()),
        (&rotate, form(&[("typed", "Forum")])),
        (&rotate, String::new()),
        (&disable, form(&[("typed", &key.hint)])),
        (&disable, String::new()),
    ] {
        let refused = viewer.post(sent_to, &sent).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{sent_to}");
    }
    let [same] = keys(&stage, forum).await.try_into().unwrap();
    assert!(same.disabled_at.is_none());
}

#[sqlx::test(migrations = false)]
async fn a_key_is_replaced_without_a_gap_while_the_old_one_works(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, "Forum").await;
    let caller = Caller::command_line(&stage.management);
    let mut old = Vec::new();
    for _ in 0..2 {
        let issued = site_keys::create(&caller, forum).await;
        old.push(issued.unwrap().key);
    }
    site_keys::disable(&caller, forum, old[0].id).await.unwrap();
    let path = format!("/t/{}/sites/{forum}/keys", stage.team);
    let rotate = format!("{path}/rotate");
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let asked = admin.get(&rotate).await.text;
    assert!(
        asked.contains(&format!("ends with <code>{}</code>", old[1].hint))
            && asked.contains(&format!("{path}/{}\"", old[1].id)),
        "{asked}"
    );
    assert!(!asked.contains(&old[0].id.to_string()), "{asked}");
    assert!(
        asked.contains("<span class=\"quiet\">never</span>"),
        "{asked}"
    );

    let issued = admin.post(&rotate, &form(&[("how", "keep")])).await;
    assert_eq!(issued.status, StatusCode::OK, "{}", issued.text);
    assert!(issued.text.contains("keep working"), "{}", issued.text);
    let now = keys(&stage, forum).await;
    let working = now.iter().filter(|key| key.disabled_at.is_none()).count();
    assert_eq!((now.len(), working), (3, 2));
    assert_eq!(audited(&pool, "key.create").await, ["admin@market.example"]);
    assert!(audited(&pool, "key.rotate").await.is_empty());

    sqlx::query("update plans set site_keys_per_team = 2")
        .execute(&pool)
        .await
        .unwrap();
    let refused = admin.post(&rotate, &form(&[("how", "keep")])).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    let told = "The plan allows 2 site keys of a team";
    assert!(refused.text.contains(told), "{}", refused.text);
    assert_eq!(keys(&stage, forum).await.len(), 3);
}
