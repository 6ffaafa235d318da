//! What must hold within the database when everything has come to rest. Each query finds offenders, as text.

/// Names and queries.
pub(super) const ALL: &[(&str, &str)] = &[
    ("every item is decided", "select id::text from media where status = 'pending'"),
    (
        "every item has exactly one verdict, its status",
        "
        select m.id::text
        from media m
        left join verdicts v on v.media_id = m.id
        group by m.id
        having count(v.media_id) <> 1 or min(v.status) <> m.status or m.verdict is distinct from 1
        ",
    ),
    (
        "every item was analysed",
        "select m.id::text from media m where not exists (select from analyses a where a.media_id = m.id)",
    ),
    (
        "every item has each event exactly once",
        "
        select k.kind || ' of ' || m.id
        from media m
        cross join (values ('media.created'), ('media.moderated')) as k (kind)
        left join events e on e.media_id = m.id and e.kind = k.kind
        group by m.id, k.kind
        having count(e.id) <> 1
        ",
    ),
    (
        "every event has exactly one delivery to each endpoint",
        "
        select e.id::text
        from events e
        join webhook_endpoints p on p.site_id = e.site_id and e.kind = any (p.events)
        left join deliveries d on d.event_id = e.id and d.endpoint_id = p.id
        group by e.id, p.id
        having count(d.id) <> 1
        ",
    ),
    ("every delivery is delivered", "select id::text || ' is ' || state from deliveries where state <> 'delivered'"),
    (
        "attempts are numbered without gap, and the last one delivered",
        "
        select d.id::text
        from deliveries d
        left join delivery_attempts a on a.delivery_id = d.id
        group by d.id
        having count(a.number) <> d.attempts
            or min(a.number) is distinct from 1
            or max(a.number) is distinct from d.attempts
            or count(*) filter (where a.outcome = 'delivered') <> 1
            or max(a.number) filter (where a.outcome = 'delivered') is distinct from d.attempts
        ",
    ),
    (
        "reviews wait for exactly the items that need one",
        "
        select coalesce(m.id, r.media_id)::text
        from reviews r
        full join (select id from media where status = 'pending_review') m on m.id = r.media_id
        where m.id is null or r.media_id is null
        ",
    ),
    (
        "nothing belongs to an item, event or endpoint that is not there",
        "
        select 'verdict of ' || media_id from verdicts v where not exists (select from media where id = v.media_id)
        union all
        select 'analysis of ' || media_id from analyses a where not exists (select from media where id = a.media_id)
        union all
        select 'event of ' || media_id
        from events e
        where not exists (select from media m where m.id = e.media_id and m.site_id = e.site_id)
        union all
        select 'delivery ' || d.id
        from deliveries d
        where not exists (
            select from events e
            join webhook_endpoints p on p.site_id = e.site_id and e.kind = any (p.events)
            where e.id = d.event_id and p.id = d.endpoint_id
        )
        union all
        select 'attempt of ' || delivery_id
        from delivery_attempts a
        where not exists (select from deliveries where id = a.delivery_id)
        ",
    ),
    ("no job is left", "select queue || ' ' || id from queue.jobs"),
    ("no job died", "select queue || ' ' || id || ': ' || error from queue.dead_jobs"),
];

#[cfg(test)]
mod tests {
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

    /// What goes wrong, and the checks that find it.
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
}
