//! The webhook secret of a site, and its rotation.

use chrono::{TimeDelta, Utc};
use domain::{id::SiteId, role::Role};
use management::{
    Caller,
    webhook_secrets::{self, Standing},
};
use poem::http::StatusCode;
use sqlx::PgPool;

use super::{ESCAPED, HOSTILE, audited, form, site};
use crate::browser::{Stage, between};

const NOTHING_DROPPED: [(&str, &str); 2] = [("when", "now"), ("drops", "nothing")];

async fn standing(stage: &Stage, site: SiteId) -> Standing {
    let caller = Caller::command_line(&stage.management);
    let standing = webhook_secrets::get(&caller, site).await;
    standing.unwrap()
}

#[sqlx::test(migrations = false)]
async fn a_rotation_says_first_what_it_drops(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, HOSTILE).await;
    let path = format!("/t/{}/sites/{forum}/secret", stage.team);
    let rotate = format!("{path}/rotate");
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let shown = admin.get(&path).await.text;
    assert!(shown.contains("since the site was created"), "{shown}");

    // Later: nothing is dropped.
    let at = Utc::now() + TimeDelta::days(2);
    let at = at.format("%Y-%m-%dT%H:%M").to_string();
    let later = form(&[("when", "later"), ("activate_at", &at)]);
    let checked = admin.get(&format!("{rotate}?{later}")).await.text;
    assert!(checked.contains("Nothing is dropped"), "{checked}");
    assert!(checked.contains("name=\"drops\" value=\"nothing\""));
    let later = format!("{later}&drops=nothing");
    let issued = admin.post(&rotate, &later).await;
    assert_eq!(issued.status, StatusCode::OK, "{}", issued.text);
    let secret = between(
        &issued.text,
        "<code class=\"secret\" id=\"secret\">",
        "</code>",
    )
    .to_owned();
    assert!(secret.starts_with("whsec_"), "{secret}");
    let now = standing(&stage, forum).await;
    assert!(now.next_at.is_some() && now.signs_since.is_none());
    let shown = admin.get(&path).await.text;
    assert!(shown.contains("Next secret") && !shown.contains(&secret));

    // Now: the secret that waits is dropped, and that is said before.
    let checked = admin.get(&format!("{rotate}?when=now")).await.text;
    assert!(checked.contains("it will never sign"), "{checked}");
    assert!(checked.contains(ESCAPED), "the name to type: {checked}");
    let outdated = admin.post(&rotate, &form(&NOTHING_DROPPED)).await;
    assert_eq!(outdated.status, StatusCode::UNPROCESSABLE_ENTITY);
    let told = "The secrets have changed since you opened this page";
    assert!(outdated.text.contains(told), "{}", outdated.text);
    let drops = [("when", "now"), ("drops", "next")];
    let untyped = admin.post(&rotate, &form(&drops)).await;
    assert_eq!(untyped.status, StatusCode::UNPROCESSABLE_ENTITY);
    let told = "id=\"typed-problem\">Must be the name of the site.";
    assert!(untyped.text.contains(told), "{}", untyped.text);
    assert_eq!(standing(&stage, forum).await, now, "nothing was changed");
    let typed = [&drops[..], &[("typed", HOSTILE)]].concat();
    let issued = admin.post(&rotate, &form(&typed)).await.text;
    assert!(issued.contains("the secret that was to sign later"));
    assert!(standing(&stage, forum).await.previous_until.is_some());

    // Once more: the secret before the present one is dropped.
    let checked = admin.get(&format!("{rotate}?when=now")).await.text;
    assert!(checked.contains("is dropped at once"), "{checked}");
    let typed = [("when", "now"), ("drops", "previous"), ("typed", HOSTILE)];
    let issued = admin.post(&rotate, &form(&typed)).await.text;
    assert!(issued.contains("an older secret, which signs nothing any more"));
    let by = audited(&pool, "webhook_secret.rotate").await;
    assert_eq!(by, ["admin@market.example"; 3]);
}

#[sqlx::test(migrations = false)]
async fn a_wrong_time_is_told_at_its_field_and_stays(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, "Forum").await;
    let rotate = format!("/t/{}/sites/{forum}/secret/rotate", stage.team);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let in_days = |days| {
        let at = Utc::now() + TimeDelta::days(days);
        at.format("%Y-%m-%dT%H:%M").to_string()
    };
    for (at, shown, message) in [
        (HOSTILE.to_owned(), ESCAPED.to_owned(), "Must be a date"),
        (String::new(), String::new(), "Must be a date"),
        (in_days(-1), in_days(-1), "Must be in the future"),
        (in_days(31), in_days(31), "Must be at most 30 days ahead"),
    ] {
        let sent = form(&[
            ("when", "later"),
            ("activate_at", &at),
            ("drops", "nothing"),
        ]);
        for answer in [
            admin.get(&format!("{rotate}?{sent}")).await,
            admin.post(&rotate, &sent).await,
        ] {
            assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
            let told = format!("id=\"activate_at-problem\">{message}");
            assert!(answer.text.contains(&told), "{}", answer.text);
            let kept = format!("type=\"datetime-local\" value=\"{shown}\"");
            assert!(answer.text.contains(&kept), "{}", answer.text);
        }
    }
    assert_eq!(standing(&stage, forum).await, Standing::default());
}

#[sqlx::test(migrations = false)]
async fn a_viewer_sees_when_secrets_sign_and_rotates_none(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, "Forum").await;
    let path = format!("/t/{}/sites/{forum}/secret", stage.team);
    let rotate = format!("{path}/rotate");
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let shown = viewer.get(&path).await;
    assert_eq!(shown.status, StatusCode::OK, "{}", shown.text);
    assert!(!shown.text.contains("Rotate"), "{}", shown.text);
    assert_eq!(viewer.get(&rotate).await.status, StatusCode::FORBIDDEN);
    let refused = viewer.post(&rotate, &form(&NOTHING_DROPPED)).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert_eq!(standing(&stage, forum).await, Standing::default());
}

#[sqlx::test(migrations = false)]
async fn an_old_password_is_asked_for_again_and_the_form_goes_on(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, "Forum").await;
    let rotate = format!("/t/{}/sites/{forum}/secret/rotate", stage.team);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    sqlx::query("update sessions set password_at = now() - interval '1 hour'")
        .execute(&pool)
        .await
        .unwrap();
    let checked = admin.get(&format!("{rotate}?when=now")).await;
    assert_eq!(checked.status, StatusCode::OK, "{}", checked.text);
    let asked = admin.post(&rotate, &form(&NOTHING_DROPPED)).await;
    assert_eq!(asked.status, StatusCode::FORBIDDEN, "{}", asked.text);
    assert!(asked.text.contains("name=\"drops\" value=\"nothing\""));
    let again = [
        &NOTHING_DROPPED[..],
        &[("password_again", crate::browser::PASSWORD)],
    ];
    let issued = admin.post(&rotate, &form(&again.concat())).await;
    assert_eq!(issued.status, StatusCode::OK, "{}", issued.text);
    assert!(issued.text.contains("whsec_"), "{}", issued.text);
}
