//! Publishing, versions, the shadow and backtests.

use domain::role::Role;
use poem::http::StatusCode;
use sqlx::PgPool;

use super::team::{Room, escaped, form, hostile};

#[sqlx::test(migrations = false)]
async fn a_draft_is_reviewed_and_published_and_an_earlier_version_comes_back(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let group = room.group("House rules").await;
    let none = room.admin.get(&format!("{group}/publish")).await.text;
    assert!(none.contains("There is no draft"), "{none}");
    room.word(&group, "Words", "blockedword").await;
    let review = room.admin.get(&format!("{group}/publish")).await.text;
    assert!(
        review.contains("<h2>Added</h2>") && review.contains("blockedword"),
        "{review}"
    );
    let revision = room.revision(&group).await;
    let long = "x".repeat(1001);
    let wrong = form(&[("revision", &revision), ("note", &long)]);
    let wrong = room.admin.post(&format!("{group}/publish"), &wrong).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.text.contains("id=\"note-problem\""), "{}", wrong.text);
    let sent = form(&[("revision", &revision), ("note", &hostile())]);
    let mut viewer = room
        .stage
        .person("viewer@market.example", Role::Viewer)
        .await;
    let refused = viewer.post(&format!("{group}/publish"), &sent).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let published = room.admin.post(&format!("{group}/publish"), &sent).await;
    assert!(published.leads_to().ends_with("?done=published"));

    let listed = room.admin.get(&format!("{group}/versions")).await.text;
    assert!(
        listed.contains(&escaped()) && listed.contains(">Ada<"),
        "{listed}"
    );
    let path = |number: &str| {
        let row = listed
            .split("<tr>")
            .find(|row| row.contains(&format!("\">{number}</a>")));
        let (_, rest) = row.unwrap().split_once("href=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let (first, second) = (path("1"), path("2"));
    let shown = room.admin.get(&second).await.text;
    assert!(
        shown.contains("blockedword") && shown.contains(">live<"),
        "{shown}"
    );
    let id = first.rsplit('/').next().unwrap();
    let compared = room
        .admin
        .get(&format!("{group}/compare?to={id}"))
        .await
        .text;
    assert!(
        compared.contains("<h2>Removed</h2>") && compared.contains("blockedword"),
        "{compared}"
    );
    let refused = viewer.post(&format!("{first}/live"), "").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(!viewer.get(&first).await.text.contains("Make it live"));
    let back = room.admin.post(&format!("{first}/live"), "").await;
    assert!(back.leads_to().ends_with("?done=version-live"));
    let shown = room.admin.get(&group).await.text;
    assert!(
        shown.contains("version 1 live") && !shown.contains("blockedword"),
        "{shown}"
    );
    assert_eq!(room.audited("rule_group.publish").await, 2);
}

#[sqlx::test(migrations = false)]
async fn the_draft_judges_in_the_shadow_and_says_what_would_differ(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let group = room.group("House rules").await;
    let nothing = room.admin.get(&format!("{group}/shadow")).await.text;
    assert!(
        nothing.contains("There is no draft, and no version"),
        "{nothing}"
    );
    room.word(&group, "Words", "blockedword").await;
    let shadow = format!("{group}/shadow");
    let outdated = room.admin.post(&shadow, "version=&revision=0&note=").await;
    assert_eq!(outdated.status, StatusCode::CONFLICT);
    let wrong = room
        .admin
        .post(&shadow, "version=nonsense&revision=0")
        .await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong.text.contains("id=\"version-problem\""),
        "{}",
        wrong.text
    );
    let revision = room.revision(&group).await;
    let sent = form(&[
        ("version", ""),
        ("revision", &revision),
        ("note", "to be tried"),
    ]);
    let started = room.admin.post(&shadow, &sent).await;
    assert!(started.leads_to().ends_with("?done=shadow-started"));

    let version: uuid::Uuid = sqlx::query_scalar(
        "select shadow_version_id from rule_groups where shadow_version_id is not null",
    )
    .fetch_one(&room.pool)
    .await
    .unwrap();
    let media = uuid::Uuid::now_v7();
    sqlx::query(
        "insert into shadow_counts (version_id, slot, live_status, shadow_status, unscored, items)
         values ($1, 0, 'approved', 'rejected', false, 31), ($1, 0, 'approved', 'approved', true, 400)",
    )
    .bind(version)
    .execute(&room.pool)
    .await
    .unwrap();
    sqlx::query(
        "insert into shadow_differences (version_id, media_id, live_status, shadow_status, judged_at)
         values ($1, $2, 'approved', 'rejected', now())",
    )
    .bind(version)
    .bind(media)
    .execute(&room.pool)
    .await
    .unwrap();
    let told = room.admin.get(&shadow).await.text;
    for part in ["<dd>431</dd>", "<dd>31</dd>", "<dd>400</dd>", "data-live"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let review = room.admin.get(&format!("{group}/publish")).await.text;
    assert!(
        review.contains("which has the rules of this draft"),
        "{review}"
    );
    let items = room.admin.get(&format!("{shadow}/{version}")).await.text;
    assert!(items.contains(&format!("/items/{media}")), "{items}");

    let mut viewer = room
        .stage
        .person("viewer@market.example", Role::Viewer)
        .await;
    let seen = viewer.get(&shadow).await.text;
    assert!(
        seen.contains("<dd>431</dd>") && !seen.contains("End the shadow"),
        "{seen}"
    );
    let refused = viewer.post(&format!("{shadow}/end"), "").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    let ended = room.admin.post(&format!("{shadow}/end"), "").await;
    assert!(ended.leads_to().ends_with("?done=shadow-ended"));
    let told = room.admin.get(&shadow).await.text;
    assert!(told.contains("No version judges in the shadow"), "{told}");
    // It can judge again as the version that it is now.
    let again = form(&[("version", &version.to_string())]);
    let again = room.admin.post(&shadow, &again).await;
    assert!(again.leads_to().ends_with("?done=shadow-started"));
    assert_eq!(room.audited("rule_group.shadow").await, 3);
}

#[sqlx::test(migrations = false)]
async fn a_backtest_is_started_followed_and_cancelled(pool: PgPool) {
    let mut room = Room::new(pool).await;
    let group = room.group("House rules").await;
    room.word(&group, "Words", "blockedword").await;
    let tests = format!("{group}/backtests");
    let wrong = form(&[
        ("version", "nonsense"),
        ("site", ""),
        ("since", "yesterday"),
        ("limit", "0"),
    ]);
    let wrong = room.admin.post(&tests, &wrong).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong.text.contains("id=\"version-problem\""),
        "{}",
        wrong.text
    );
    for (field, value) in [
        ("since", "yesterday"),
        ("limit", "0"),
        ("site", "01980f6d-12aa-7bbb-8ccc-0123456789ab"),
    ] {
        let refused = room.admin.post(&tests, &form(&[(field, value)])).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{field}");
        assert!(
            refused.text.contains(&format!("id=\"{field}-problem\"")),
            "{field}: {}",
            refused.text
        );
    }
    let mut viewer = room
        .stage
        .person("viewer@market.example", Role::Viewer)
        .await;
    assert_eq!(viewer.post(&tests, "").await.status, StatusCode::FORBIDDEN);
    assert!(!viewer.get(&tests).await.text.contains("New backtest"));

    let sent = form(&[("since", "2026-01-01T00:00"), ("limit", "1000")]);
    let started = room.admin.post(&tests, &sent).await;
    let page = started.leads_to().split('?').next().unwrap().to_owned();
    let busy = room.admin.post(&tests, &sent).await;
    assert_eq!(busy.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        busy.text.contains("has a backtest that has not ended"),
        "{}",
        busy.text
    );
    let id: uuid::Uuid = page.rsplit('/').next().unwrap().parse().unwrap();
    let media = uuid::Uuid::now_v7();
    for statement in [
        "update backtests set total = 200, looked_at = 50, changed = 7 where id = $1",
        "insert into backtest_counts (backtest_id, old_status, new_status, decided, items)
         values ($1, 'approved', 'rejected', 'rejected', 7), ($1, 'approved', 'approved', 'nobody', 43)",
    ] {
        sqlx::query(statement).bind(id).execute(&room.pool).await.unwrap();
    }
    sqlx::query(
        "insert into backtest_changes (backtest_id, media_id, old_status, new_status, decided, rule_ids)
         values ($1, $2, 'approved', 'rejected', 'rejected', '{}')",
    )
    .bind(id)
    .bind(media)
    .execute(&room.pool)
    .await
    .unwrap();
    let shown = room.admin.get(&page).await.text;
    for part in [
        "50 of 200",
        "width=\"25\"",
        "data-live",
        "100.0 %",
        &format!("/items/{media}"),
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!viewer.get(&page).await.text.contains("Cancel"));
    assert_eq!(
        viewer.post(&format!("{page}/cancel"), "").await.status,
        StatusCode::FORBIDDEN
    );
    let other = room.group("Another group").await;
    let elsewhere = room.admin.get(&format!("{other}/backtests/{id}")).await;
    assert_eq!(elsewhere.status, StatusCode::NOT_FOUND);
    let cancelled = room.admin.post(&format!("{page}/cancel"), "").await;
    assert!(cancelled.leads_to().ends_with("?done=backtest-cancelled"));
    let listed = room.admin.get(&tests).await.text;
    assert!(listed.contains("cancelled"), "{listed}");
    assert_eq!(room.audited("backtest.cancel").await, 1);
}
