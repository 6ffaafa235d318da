//! Providers, for operators.

use poem::http::StatusCode;
use sqlx::PgPool;

use crate::{
    browser::Stage,
    queues::{assert_hidden, operator},
    sites::{ESCAPED, HOSTILE},
};

const PATH: &str = "/instance/providers";

#[sqlx::test(migrations = false)]
async fn the_state_of_each_provider_is_told(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let mut operator = operator(&stage).await;
    let none = operator.get(PATH).await;
    assert_eq!(none.status, StatusCode::OK, "{}", none.text);
    assert!(none.text.contains("No provider"), "{}", none.text);

    sqlx::query(
        "insert into providers (name, kind, categories, image_categories, position, seen_at) values
         ($1, $1, '{hate}', '{}', 1, now()),
         ('openai', 'openai', '{adult,violence}', '{adult}', 2, now()),
         ('retired', 'openai', '{adult}', '{}', 3, now() - interval '1 hour')",
    )
    .bind(HOSTILE)
    .execute(&pool)
    .await
    .unwrap();
    for change in [
        "insert into provider_states (credential, provider, failures, openings, open_until, limit_from_bytes, limit_met, limit_until)
         values ('secret-part', 'openai', 6, 2, now() + interval '4 minutes', 4096, 3, now() + interval '1 minute')",
        "insert into analyses (media_id, providers, unchecked)
         select gen_random_uuid(), json_build_array(json_build_object(
                    'provider', 'openai', 'elapsed_ms', 250, 'failure', case when i = 1 then 'timeout' end)), '[]'
         from generate_series(1, 4) i",
        "insert into provider_costs (provider, day, what, amount)
         select 'openai', (now() at time zone 'utc')::date - days, 'text_requests', 1200
         from unnest('{0, 29, 30}'::integer []) as d (days)",
    ] {
        sqlx::query(change).execute(&pool).await.unwrap();
    }
    let shown = operator.get(PATH).await.text;
    assert!(shown.contains(ESCAPED), "{shown}");
    assert!(!shown.contains("<script>alert"), "{shown}");
    assert!(!shown.contains("secret-part"), "{shown}");
    for told in [
        "data-live",
        "<span class=\"badge ok\">is asked</span>",
        "<span class=\"badge warn\">paused</span>",
        "<span class=\"badge no\">no worker has it</span>",
        "<span class=\"badge no\">open</span>",
        "<dt>Asked lately</dt><dd>4</dd>",
        "<span class=\"badge no\">1</span>",
        "250 ms",
        "<td dir=\"auto\">text requests</td><td class=\"num\" data-label=\"Today\">1,200</td><td class=\"num\" data-label=\"30 days\">2,400</td>",
        "from 4,096 bytes",
        "adult, violence",
        "What is not known here",
    ] {
        assert!(shown.contains(told), "{told}: {shown}");
    }
}

#[sqlx::test(migrations = false)]
async fn who_does_not_run_the_instance_finds_no_such_page(pool: PgPool) {
    let stage = Stage::new(pool).await;
    assert_hidden(&stage, &[PATH], &[]).await;
}
