//! What must hold in the database when no work is left. Each query finds offenders, as text.

#[cfg(test)]
mod tests;

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
