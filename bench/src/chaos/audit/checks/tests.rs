//! The checks on small databases with one error each.

use sqlx::PgPool;

use super::{super::offenders, ALL};

/// One site with one endpoint and one item that has gone the whole way, its second webhook at the second attempt.
const WORLD: &str = "
    insert into teams (id, name) values (pg_temp.u(1), 'team');
    insert into rule_groups (id, team_id, name, live_version_id) values (pg_temp.u(2), pg_temp.u(1), 'g', pg_temp.u(3));
    insert into rule_group_versions (id, rule_group_id, number, rules, uses_ai)
    values (pg_temp.u(3), pg_temp.u(2), 1, '[]', true);
    insert into sites (id, team_id, name, default_rule_group_id, webhook_secret)
    values (pg_temp.u(4), pg_temp.u(1), 'site', pg_temp.u(2), '');
    insert into webhook_endpoints (id, site_id, url, events)
    values (pg_temp.u(5), pg_temp.u(4), 'http://localhost', array['media.created', 'media.moderated']);
    insert into media (id, team_id, site_id, status, content_type, body, group_versions, verdict)
    values (pg_temp.u(6), pg_temp.u(1), pg_temp.u(4), 'pending_review', 'text', 'x', array[pg_temp.u(3)], 1);
    insert into analyses (media_id, providers, unchecked) values (pg_temp.u(6), '[]', '[]');
    insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace)
    values (pg_temp.u(6), 1, 'pending_review', 'pending', 'rule', '{}', '{}');
    insert into reviews (media_id, team_id, site_id) values (pg_temp.u(6), pg_temp.u(1), pg_temp.u(4));
    insert into events (id, media_id, site_id, kind, verdict)
    values (pg_temp.u(7), pg_temp.u(6), pg_temp.u(4), 'media.created', null),
        (pg_temp.u(8), pg_temp.u(6), pg_temp.u(4), 'media.moderated', 1);
    insert into deliveries (id, event_id, endpoint_id, state, attempts)
    values (pg_temp.u(9), pg_temp.u(7), pg_temp.u(5), 'delivered', 1),
        (pg_temp.u(10), pg_temp.u(8), pg_temp.u(5), 'delivered', 2);
    insert into delivery_attempts (delivery_id, number, started_at, duration_ms, outcome)
    values (pg_temp.u(9), 1, now(), 1, 'delivered'), (pg_temp.u(10), 1, now(), 1, 'status'),
        (pg_temp.u(10), 2, now(), 1, 'delivered');
";

/// Errors, and the checks that find them.
const WRONGS: [(&str, &[&str]); 13] = [
    (
        "update media set status = 'approved'",
        &["every item has exactly one verdict", "reviews wait"],
    ),
    (
        "delete from verdicts",
        &["every item has exactly one verdict"],
    ),
    (
        "insert into verdicts select media_id, 2, status, previous_status, moderation_type, details, trace from verdicts",
        &["every item has exactly one verdict"],
    ),
    ("delete from analyses", &["every item was analysed"]),
    ("delete from reviews", &["reviews wait"]),
    (
        "insert into events select pg_temp.u(20), media_id, site_id, kind, verdict from events where verdict = 1",
        &[
            "every item has each event",
            "every event has exactly one delivery",
        ],
    ),
    (
        "insert into deliveries select pg_temp.u(20), event_id, endpoint_id, state, 0 from deliveries limit 1",
        &[
            "every event has exactly one delivery",
            "attempts are numbered",
        ],
    ),
    (
        "update deliveries set endpoint_id = pg_temp.u(20) where attempts = 1",
        &["every event has", "nothing belongs"],
    ),
    (
        "update deliveries set state = 'exhausted' where attempts = 1",
        &["every delivery is delivered"],
    ),
    (
        "update delivery_attempts set number = 3 where number = 2",
        &["attempts are numbered"],
    ),
    (
        "update deliveries set attempts = 1",
        &["attempts are numbered"],
    ),
    ("delete from media", &["reviews wait", "nothing belongs"]),
    (
        "insert into queue.jobs (queue, lane, payload, max_attempts) values ('rules', pg_temp.u(1), '{}', 1)",
        &["no job is left"],
    ),
];

#[sqlx::test(migrations = false)]
async fn every_wrong_is_found_by_the_checks_that_are_about_it(pool: PgPool) {
    store::schema::migrate(&pool).await.unwrap();
    let mut conn = pool.acquire().await.unwrap();
    let numbered = "
        create function pg_temp.u(n int) returns uuid language sql as $$
            select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid
        $$
    ";
    for statement in [numbered, "begin", WORLD, "commit"] {
        sqlx::raw_sql(statement).execute(&mut *conn).await.unwrap();
    }
    let mut wrongs = vec![("", [].as_slice())];
    wrongs.extend(WRONGS);
    for (wrong, expected) in wrongs {
        sqlx::raw_sql("begin").execute(&mut *conn).await.unwrap();
        sqlx::raw_sql(wrong).execute(&mut *conn).await.unwrap();
        let mut found = Vec::new();
        for (name, query) in ALL {
            if offenders(&mut conn, name, query).await.unwrap().failures > 0 {
                found.push(*name);
            }
        }
        let same = found.len() == expected.len()
            && found
                .iter()
                .zip(expected)
                .all(|(name, start)| name.starts_with(start));
        assert!(same, "after `{wrong}` these fail: {found:?}");
        sqlx::raw_sql("rollback").execute(&mut *conn).await.unwrap();
    }
}
