//! Erasures: starting one, watching it, and continuing one that failed.

use domain::role::Role;
use poem::http::StatusCode;
use sqlx::PgPool;
use uuid::Uuid;

use crate::browser::Stage;

#[sqlx::test(migrations = false)]
async fn an_admin_starts_an_erasure_and_follows_it(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let path = format!("/t/{}/erasures", stage.team);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let mut lead = stage.person("lead@market.example", Role::Lead).await;
    assert_eq!(lead.get(&path).await.status, StatusCode::FORBIDDEN);
    let empty = admin.get(&path).await.text;
    assert!(empty.contains("No erasure yet"), "{empty}");

    for (form, told) in [
        (
            "kind=author&what=&typed=erase",
            "Must have 1 to 200 characters",
        ),
        ("kind=author&what=anna&typed=yes", "Must be the word erase"),
        (
            "kind=media_ids&what=one&typed=erase",
            "which is no id of an item",
        ),
        (
            "kind=media_ids&what=&typed=erase",
            "Must have 1 to 1000 ids, one a line",
        ),
        (
            "kind=metadata&what=anna&pointer=%2Fid&typed=erase",
            "Must be JSON",
        ),
        (
            "kind=metadata&what=7&pointer=id&typed=erase",
            "Must be a JSON pointer",
        ),
        (
            "kind=author&what=anna&site=x&typed=erase",
            "Is no site of the team",
        ),
    ] {
        let wrong = admin.post(&path, form).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{form}");
        assert!(wrong.text.contains(told), "{form}: {}", wrong.text);
    }
    let form = "kind=author&what=%3Cscript%3Eanna%3C%2Fscript%3E&typed=erase";
    let started = admin.post(&path, form).await;
    assert_eq!(started.status, StatusCode::SEE_OTHER, "{}", started.text);
    let id: Uuid = sqlx::query_scalar("select id from erasures")
        .fetch_one(&pool)
        .await
        .unwrap();
    let page = format!("{path}/{id}");
    let shown = admin.get(&page).await.text;
    assert!(
        shown.contains(">running<") && shown.contains("the items of an author"),
        "{shown}"
    );
    assert!(!shown.contains("anna"), "it may name a person: {shown}");
    assert!(!shown.contains("Continue where it was"), "{shown}");
    assert_eq!(stage.last("erasure.create").await.0, "admin@market.example");
    let naming = "select count(*) from audit_log where details::text like '%anna%'";
    let naming: i64 = sqlx::query_scalar(naming).fetch_one(&pool).await.unwrap();
    assert_eq!(naming, 0, "the audit log stays, so it names nobody");

    sqlx::query("update erasures set state = 'failed', ended_at = now(), error = 'timeout'")
        .execute(&pool)
        .await
        .unwrap();
    let failed = admin.get(&page).await.text;
    assert!(failed.contains(">timeout<"), "{failed}");
    let resumed = admin.post(&format!("{page}/resume"), "").await;
    assert_eq!(resumed.status, StatusCode::SEE_OTHER, "{}", resumed.text);
    assert!(admin.get(&page).await.text.contains(">running<"));

    sqlx::query(
        "update erasures set state = 'finished', ended_at = now(), certificate = 'e.p.s', counts = '{\"items\":12345}'",
    )
    .execute(&pool)
    .await
    .unwrap();
    let ended = admin.get(&page).await.text;
    assert!(
        ended.contains("id=\"certificate\">e.p.s<") && ended.contains("12,345"),
        "{ended}"
    );
    assert!(admin.get(&path).await.text.contains(">finished<"));
}
