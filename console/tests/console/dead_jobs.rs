//! Dead jobs, for operators.

use poem::http::StatusCode;
use sqlx::PgPool;
use uuid::Uuid;

use crate::{
    browser::{Stage, between},
    queues::{assert_hidden, operator},
    sites::{ESCAPED, HOSTILE, audited, form},
};

const LIST: &str = "/instance/dead-jobs";
const REPLAY: &str = "/instance/dead-jobs/replay";
/// What no page shows.
const SECRET: &str = "whsec_of_nobody";

/// Buries jobs `from..=to` of a queue, the first of them longest ago, a second apart.
async fn bury(pool: &PgPool, queue: &str, lane: Uuid, numbers: (i64, i64), error: &str) {
    sqlx::query(
        "insert into queue.dead_jobs
                (id, queue, grp, lane, priority, attempt, max_attempts, created_at, died_at, cause, error, payload)
         select i, $1, $2, $2, 0, 5, 5, now() - interval '1 day',
                now() - interval '3 hours' + i * interval '1 s', 'exhausted', $5,
                json_build_object('media', lpad(i::text, 32, '0')::uuid, 'secret', $6::text)
           from generate_series($3, $4) i",
    )
    .bind(queue)
    .bind(lane)
    .bind(numbers.0)
    .bind(numbers.1)
    .bind(error)
    .bind(SECRET)
    .execute(pool)
    .await
    .unwrap();
}

/// The dead jobs that are left, and the jobs that wait.
async fn left(pool: &PgPool) -> (i64, i64) {
    sqlx::query_as(
        "select (select count(*) from queue.dead_jobs), (select count(*) from queue.jobs)",
    )
    .fetch_one(pool)
    .await
    .unwrap()
}

#[sqlx::test(migrations = false)]
async fn dead_jobs_are_shown_by_cause_and_one_by_one(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let mut operator = operator(&stage).await;
    let empty = operator.get(LIST).await;
    assert_eq!(empty.status, StatusCode::OK, "{}", empty.text);
    assert!(empty.text.contains("No job is dead"), "{}", empty.text);
    assert!(!empty.text.contains("Replay all"), "{}", empty.text);

    let lane = Uuid::now_v7();
    bury(&pool, "webhooks", lane, (1, 60), "answered 503").await;
    let long = format!("{HOSTILE}{}", "x".repeat(1_000));
    bury(&pool, "rules", Uuid::now_v7(), (61, 63), &long).await;
    let shown = operator.get(LIST).await.text;
    assert!(shown.contains(ESCAPED), "{shown}");
    assert!(!shown.contains("<script>alert"), "{shown}");
    assert!(!shown.contains(SECRET), "{shown}");
    assert!(shown.contains("<summary>All of it</summary>"), "{shown}");
    assert!(shown.contains("Replay all 63"), "{shown}");
    assert!(
        shown.contains("about 00000000-0000-0000-0000-000000000063"),
        "{shown}"
    );
    assert_eq!(shown.matches("name=\"id\"").count(), 50);

    let next = between(&shown, "<a class=\"button\" href=\"?", "\"").replace("&#38;", "&");
    let older = operator.get(&format!("{LIST}?{next}")).await.text;
    assert_eq!(older.matches("name=\"id\"").count(), 13, "{older}");
    assert!(
        older.contains("value=\"13\"") && older.contains("value=\"1\""),
        "{older}"
    );

    // The link of a cause finds exactly its jobs, whatever the error says.
    let links = shown.split("<a class=\"button\" href=\"").skip(1);
    let links: Vec<String> = links
        .filter_map(|rest| rest.split_once('"'))
        .map(|(link, _)| link.replace("&#38;", "&"))
        .filter(|link| link.contains("cause=exhausted"))
        .collect();
    assert_eq!(links.len(), 2, "{links:?}");
    for (link, jobs) in links.iter().zip([60, 3]) {
        let found = operator.get(link).await;
        assert_eq!(found.status, StatusCode::OK, "{link}");
        assert!(
            found
                .text
                .contains(&format!("Replay the {jobs} that match")),
            "{}",
            found.text
        );
        assert!(!found.text.contains("<script>alert"), "{}", found.text);
    }
    for (filter, jobs) in [
        (format!("lane_id={lane}"), 60),
        (format!("team_id={lane}&queue=webhooks"), 60),
        ("since=2020-01-01T00:00&error=503".to_owned(), 60),
    ] {
        let found = operator.get(&format!("{LIST}?{filter}")).await.text;
        assert!(
            found.contains(&format!("Replay the {jobs} that match")),
            "{filter}: {found}"
        );
    }
    let none = operator
        .get(&format!("{LIST}?until=2020-01-01T00:00"))
        .await
        .text;
    assert!(none.contains("No dead job matches"), "{none}");
    for (field, wrong) in [
        ("queue", HOSTILE),
        ("cause", HOSTILE),
        ("team_id", HOSTILE),
        ("lane_id", HOSTILE),
        ("since", HOSTILE),
        ("until", "300000-01-01T00:00"),
    ] {
        let path = format!("{LIST}?{}", form(&[(field, wrong)]));
        let refused = operator.get(&path).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{field}");
        assert!(
            refused.text.contains(&format!("id=\"{field}-problem\"")),
            "{}",
            refused.text
        );
        assert!(!refused.text.contains("<script>alert"), "{}", refused.text);
    }
}

#[sqlx::test(migrations = false)]
async fn chosen_jobs_are_replayed(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let mut operator = operator(&stage).await;
    bury(&pool, "webhooks", Uuid::now_v7(), (1, 10), "answered 503").await;
    for (wrong, told) in [
        ("what=chosen", "tick its box"),
        ("what=chosen&id=x", "tick its box"),
        ("what=matching", "choose some, or a filter"),
        ("what=all&queue=webhooks", "choose some, or a filter"),
        ("", "choose some, or a filter"),
        ("what=matching&team_id=x", "team_id-problem"),
    ] {
        let refused = operator.post(REPLAY, wrong).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong}");
        assert!(refused.text.contains(told), "{wrong}: {}", refused.text);
    }
    assert_eq!(left(&pool).await, (10, 0));
    let done = operator.post(REPLAY, "what=chosen&id=3&id=8&id=999").await;
    assert_eq!(done.status, StatusCode::OK, "{}", done.text);
    assert!(
        done.text.contains("2 jobs were enqueued again."),
        "{}",
        done.text
    );
    assert!(done.text.contains("Nothing is left"), "{}", done.text);
    assert_eq!(left(&pool).await, (8, 2));
    let audit = audited(&pool, "dead_jobs.replay").await;
    assert_eq!(audit, ["operator@market.example"]);
    let again = operator.post(REPLAY, "what=chosen&id=3&id=8").await.text;
    assert!(again.contains("0 jobs were enqueued again"), "{again}");
    assert_eq!(left(&pool).await, (8, 2));
}

#[sqlx::test(migrations = false)]
async fn a_long_replay_goes_on_by_steps_and_says_what_is_left(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let mut operator = operator(&stage).await;
    bury(
        &pool,
        "webhooks",
        Uuid::now_v7(),
        (1, 2_300),
        "answered 503",
    )
    .await;
    bury(&pool, "rules", Uuid::now_v7(), (2_301, 2_310), "too slow").await;
    let mut step = "what=matching&queue=webhooks".to_owned();
    for (told, rest) in [
        ("1,000 jobs were enqueued again.", Some("1,300 are left")),
        (
            "1,000 jobs were enqueued again, 2,000 in all.",
            Some("300 are left"),
        ),
        ("300 jobs were enqueued again, 2,300 in all.", None),
    ] {
        let done = operator.post(REPLAY, &step).await;
        assert_eq!(done.status, StatusCode::OK, "{}", done.text);
        assert!(done.text.contains(told), "{}", done.text);
        let Some(rest) = rest else {
            assert!(done.text.contains("Nothing is left"), "{}", done.text);
            break;
        };
        assert!(done.text.contains(rest), "{}", done.text);
        // What dies in the meantime is not replayed again.
        let late = "update queue.dead_jobs set died_at = now() + interval '1 hour' where id = 2310";
        sqlx::query(late).execute(&pool).await.unwrap();
        let names = ["what", "queue", "begun", "after", "so_far"];
        let fields = names.map(|name| {
            let before = format!("type=\"hidden\" name=\"{name}\" value=\"");
            (name, between(&done.text, &before, "\"").to_owned())
        });
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        step = form(&fields);
    }
    assert_eq!(left(&pool).await, (10, 2_300));
    assert_eq!(audited(&pool, "dead_jobs.replay").await.len(), 3);

    let all = operator.post(REPLAY, "what=all").await.text;
    assert!(all.contains("9 jobs were enqueued again."), "{all}");
    assert_eq!(
        left(&pool).await,
        (1, 2_309),
        "one died after the replay had begun"
    );
}

#[sqlx::test(migrations = false)]
async fn who_does_not_run_the_instance_finds_no_dead_jobs(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    bury(&pool, "webhooks", stage.team.as_uuid(), (1, 3), HOSTILE).await;
    let filtered = format!("{LIST}?team_id={}", stage.team);
    assert_hidden(&stage, &[LIST, &filtered], &[REPLAY]).await;
    assert_eq!(left(&pool).await, (3, 0));
}
