//! What waits for the person who looks.

use domain::role::Role;
use sqlx::PgPool;
use uuid::Uuid;

use super::{counted, path};
use crate::{
    browser::Stage,
    sites::{ESCAPED, HOSTILE, site},
};

const QUIET: &str = "Nothing needs you right now";

async fn change(pool: &PgPool, change: &str, id: Uuid) {
    let change = sqlx::AssertSqlSafe(change.to_owned());
    sqlx::query(change).bind(id).execute(pool).await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn each_need_is_told_to_those_who_can_do_something_about_it(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, HOSTILE).await;
    let (team, endpoint) = (stage.team, Uuid::now_v7());
    counted(&pool, team.as_uuid(), 2, 1, 0).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let calm = admin.get(&path(&stage, "")).await.text;
    assert!(calm.contains(QUIET), "{calm}");

    let add = "
        with p as (
            insert into webhook_endpoints (id, site_id, url, events) values ($1, $2, $3, '{media.moderated}')
            returning id
        )
        insert into webhook_endpoint_states (endpoint_id, failing_since) select id, now() - interval '3 hours' from p";
    sqlx::query(add)
        .bind(endpoint)
        .bind(forum.as_uuid())
        .bind(format!("https://shop.example/{HOSTILE}"))
        .execute(&pool)
        .await
        .unwrap();
    counted(&pool, team.as_uuid(), 3, 1, 12).await;
    let waits = "
        with m as (
            insert into media (id, team_id, site_id, status, content_type, body, group_versions, verdict, created_at)
            select gen_random_uuid(), team_id, id, 'pending_review', 'text', 'x', '{}', 1, now() - interval '5 hours'
            from sites where id = $1
            returning id, team_id, site_id
        )
        insert into reviews (media_id, team_id, site_id) select id, team_id, site_id from m";
    change(&pool, waits, forum.as_uuid()).await;
    change(&pool, waits, forum.as_uuid()).await;
    for sql in [
        "update rule_groups set draft = (select rules from rule_group_versions where rule_group_id = rule_groups.id limit 1)
         where team_id = $1",
        "update plans set submissions_per_period = 1000 where $1 is not null",
        "insert into usage (team_id, period_start, submissions, deliveries, quota, delivery_quota, granted, period_end)
         select team_id, billing_period(started_at, now()), 850, 4000, 1000, null, 0, billing_period(started_at, now(), 1)
         from subscriptions where team_id = $1",
    ] {
        change(&pool, sql, team.as_uuid()).await;
    }

    let told = admin.get(&path(&stage, "")).await.text;
    let fails = format!("<b><bdi>https://shop.example/{ESCAPED}</bdi> fails</b>");
    let draft = format!("<b>The draft of “<bdi>{ESCAPED}</bdi>” is not published</b>");
    let hook = format!("href=\"/t/{team}/webhooks/{endpoint}\">Look<");
    let given_up = format!("href=\"/t/{team}/deliveries?state=exhausted\"");
    let review = format!("href=\"/t/{team}/items?status=pending_review\"");
    let usage = "<b>85 % of your plan&#39;s submissions are used</b>";
    for part in [
        &fails,
        &draft,
        &hook,
        &given_up,
        "12 webhooks were given up",
        "2 items wait for a person",
        "5 h ago</time>",
        &review,
        usage,
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("<script>alert"), "{told}");
    assert!(!told.contains(QUIET), "{told}");
    assert!(
        !told.contains("href=\"https://shop"),
        "a stranger's URL is no link"
    );

    // A moderator decides items, and has no second factor yet. A viewer can only look.
    let mut moderator = stage.person("mod@market.example", Role::Moderator).await;
    let shown = moderator.get(&path(&stage, "")).await.text;
    for (part, is_told) in [
        (&review, true),
        (&hook, false),
        (&given_up, false),
        (&draft, false),
        (&"href=\"/account/factor\"".to_owned(), true),
    ] {
        assert_eq!(shown.contains(part), is_told, "{part}: {shown}");
    }
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    assert!(!viewer.get(&path(&stage, "")).await.text.contains(&review));

    // Of one site, the links keep the site. An endpoint that was disabled for its failures is told for a week.
    let disable = "update webhook_endpoints set disabled_at = now(), disabled_reason = '<i>gone' where id = $1";
    change(&pool, disable, endpoint).await;
    let one = admin
        .get(&path(&stage, &format!("?site={forum}")))
        .await
        .text;
    assert!(
        one.contains(&format!("/items?status=pending_review&#38;site={forum}")),
        "{one}"
    );
    assert!(
        one.contains(&format!("{ESCAPED}</bdi> was disabled</b>")),
        "{one}"
    );
    assert!(one.contains("“<bdi>&#60;i&#62;gone</bdi>”"), "{one}");
    let week = "update webhook_endpoints set disabled_at = now() - interval '8 days' where id = $1";
    change(&pool, week, endpoint).await;
    let later = admin.get(&path(&stage, "")).await.text;
    assert!(!later.contains("was disabled"), "{later}");
}

#[sqlx::test(migrations = false)]
async fn many_needs_of_a_kind_are_counted_and_long_texts_cut(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, "Forum").await;
    counted(&pool, stage.team.as_uuid(), 2, 1, 0).await;
    let add = "
        with p as (
            insert into webhook_endpoints (id, site_id, url, events)
            select gen_random_uuid(), $1, 'https://shop.example/' || n || repeat('x', 1900), '{media.moderated}'
            from generate_series(1, 10) n
            returning id
        )
        insert into webhook_endpoint_states (endpoint_id, failing_since) select id, now() from p";
    change(&pool, add, forum.as_uuid()).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let told = admin.get(&path(&stage, "")).await.text;
    assert!(told.contains("7 more endpoints fail"), "{told}");
    assert_eq!(told.matches("…</bdi> fails</b>").count(), 3, "{told}");
    assert!(!told.contains(&"x".repeat(100)), "{told}");

    let more = add
        .replace("https://shop", "https://more")
        .replace("10) n", "60) n");
    change(&pool, &more, forum.as_uuid()).await;
    let told = admin.get(&path(&stage, "")).await.text;
    assert!(told.contains("67 more endpoints fail"), "{told}");
    let waits = "
        with m as (
            insert into media (id, team_id, site_id, status, content_type, body, group_versions, verdict, created_at)
            select gen_random_uuid(), team_id, id, 'pending_review', 'text', 'x', '{}', 1, now() - interval '5 hours'
            from sites, generate_series(1, 201) n where id = $1
            returning id, team_id, site_id
        )
        insert into reviews (media_id, team_id, site_id) select id, team_id, site_id from m";
    change(&pool, waits, forum.as_uuid()).await;
    let told = admin.get(&path(&stage, "")).await.text;
    assert!(told.contains("<p class=\"figure\">200+</p>"), "{told}");
    assert!(told.contains("200+ items wait for a person"), "{told}");
    assert!(told.contains("At least one was accepted"), "{told}");

    let gone = "delete from subscriptions where team_id = $1";
    change(&pool, gone, stage.team.as_uuid()).await;
    let told = admin.get(&path(&stage, "")).await.text;
    assert!(told.contains("Your team has no subscription"), "{told}");
}
