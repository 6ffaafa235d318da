//! What is counted: items that were accepted, verdicts, matches of rules, and attempts to deliver
//! webhooks, with deliveries that were given up.

use sqlx::PgConnection;
use uuid::Uuid;

use super::{Backfill, Matched, ROWS, Range, Tally};
use crate::statistics::{Figures, Outcomes};

/// The rows of a source, which is named as in the backfill, in these transactions.
macro_rules! counted {
    ($conn:expr, $range:expr, $backfill:expr, $source:literal, $statement:literal) => {{
        let (after, through) = Backfill::of($backfill, $source);
        sqlx::query!(
            $statement,
            $range.from,
            $range.to,
            &$range.open,
            &$range.ended,
            $range.rows_since,
            after,
            through,
        )
        .fetch_all($conn)
        .await?
    }};
}

/// Items that were accepted.
pub(super) async fn add_items(
    conn: &mut PgConnection,
    range: &Range,
    backfill: Option<&Backfill>,
    tally: &mut Tally,
) -> Result<(), sqlx::Error> {
    let rows = counted!(
        conn,
        range,
        backfill,
        "media",
        r#"
        with picked as (
            select site_id, team_id, created_at
            from media
            where
                stored_by >= $1::bigint::text::xid8 and stored_by < $2::bigint::text::xid8
                and stored_by <> all($3::bigint []::text []::xid8 [])
                and created_at >= coalesce($5::timestamptz, '-infinity')
            union all
            select site_id, team_id, created_at
            from media
            where stored_by = any($4::bigint []::text []::xid8 [])
            union all
            select site_id, team_id, created_at
            from media
            where id > $6 and id <= $7 and stored_by is null
        )
        select
            site_id as "site!", team_id as "team!", date_trunc('hour', created_at, 'UTC') as "hour!", count(*) as "accepted!"
        from picked
        group by 1, 2, 3
        "#
    );
    for row in rows {
        let figures = Figures {
            accepted: row.accepted,
            ..Figures::default()
        };
        tally.add([row.site, row.team], row.hour, figures);
    }
    Ok(())
}

/// Verdicts, by who decided and by outcome, and the time that items waited for a person.
pub(super) async fn add_verdicts(
    conn: &mut PgConnection,
    range: &Range,
    backfill: Option<&Backfill>,
    tally: &mut Tally,
) -> Result<(), sqlx::Error> {
    // Something unchecked decided unless a rule asked for the outcome, as in `domain::decision`. The
    // trace of a judgement that died has a cause.
    let rows = counted!(
        conn,
        range,
        backfill,
        "verdicts",
        r#"
        with picked as (
            select media_id, number, status, previous_status, moderation_type, trace, moderated_at
            from verdicts
            where
                stored_by >= $1::bigint::text::xid8 and stored_by < $2::bigint::text::xid8
                and stored_by <> all($3::bigint []::text []::xid8 [])
                and moderated_at >= coalesce($5::timestamptz, '-infinity')
            union all
            select media_id, number, status, previous_status, moderation_type, trace, moderated_at
            from verdicts
            where stored_by = any($4::bigint []::text []::xid8 [])
            union all
            select media_id, number, status, previous_status, moderation_type, trace, moderated_at
            from verdicts
            where media_id > $6 and media_id <= $7 and stored_by is null
        ),
        judged as (
            select
                m.site_id, m.team_id, date_trunc('hour', p.moderated_at, 'UTC') as hour, p.status,
                case
                    when p.moderation_type = 'manual' then 'manual'
                    when p.trace ->> 'cause' is not null then 'failure'
                    when
                        json_array_length(case when json_typeof(p.trace -> 'unchecked') = 'array' then p.trace -> 'unchecked' end) > 0
                        and not exists (
                            select
                            from json_array_elements(
                                case when json_typeof(p.trace -> 'evidence') = 'array' then p.trace -> 'evidence' end
                            ) as e
                            where e ->> 'effect' = case p.status when 'rejected' then 'reject' when 'pending_review' then 'review' end
                        )
                        then 'failure'
                    else p.moderation_type
                end as decided_by,
                b.moderated_at as waited_since,
                p.moderated_at
            from picked p
            join media m on m.id = p.media_id
            left join verdicts b
                on p.previous_status = 'pending_review' and b.media_id = p.media_id and b.number = p.number - 1
        )
        select
            site_id as "site!", team_id as "team!", hour as "hour!", decided_by as "decided_by!", status as "status!",
            count(*) as "verdicts!",
            count(waited_since) as "reviews!",
            coalesce(sum(extract(epoch from moderated_at - waited_since) * 1000), 0)::bigint as "waited_ms!"
        from judged
        group by site_id, team_id, hour, decided_by, status
        "#
    );
    for row in rows {
        let outcomes = outcomes(&row.status, row.verdicts);
        let mut figures = Figures {
            reviews_decided: row.reviews,
            reviews_waited_ms: row.waited_ms,
            ..Figures::default()
        };
        match row.decided_by.as_str() {
            "manual" => figures.people = outcomes,
            "failure" => figures.failures = outcomes,
            "ai" => figures.providers = outcomes,
            _ => figures.rules = outcomes,
        }
        tally.add([row.site, row.team], row.hour, figures);
    }
    Ok(())
}

fn outcomes(status: &str, verdicts: i64) -> Outcomes {
    let mut outcomes = Outcomes::default();
    match status {
        "approved" => outcomes.approved = verdicts,
        "rejected" => outcomes.rejected = verdicts,
        _ => outcomes.pending_review = verdicts,
    }
    outcomes
}

/// How often rules matched: the violations that machine verdicts list.
pub(super) async fn add_matches(
    conn: &mut PgConnection,
    range: &Range,
    backfill: Option<&Backfill>,
    tally: &mut Tally,
) -> Result<(), sqlx::Error> {
    // The trace has the evidence for each violation, in their order. A person's verdict repeats the
    // violations that the machine found.
    let rows = counted!(
        conn,
        range,
        backfill,
        "verdicts",
        r#"
        with picked as (
            select media_id, details, trace, moderated_at
            from verdicts
            where
                stored_by >= $1::bigint::text::xid8 and stored_by < $2::bigint::text::xid8
                and stored_by <> all($3::bigint []::text []::xid8 [])
                and moderated_at >= coalesce($5::timestamptz, '-infinity')
                and moderation_type <> 'manual'
            union all
            select media_id, details, trace, moderated_at
            from verdicts
            where stored_by = any($4::bigint []::text []::xid8 []) and moderation_type <> 'manual'
            union all
            select media_id, details, trace, moderated_at
            from verdicts
            where media_id > $6 and media_id <= $7 and stored_by is null and moderation_type <> 'manual'
        ),
        matched as (
            select
                m.site_id, m.team_id, (p.moderated_at at time zone 'UTC')::date as day,
                z.evidence -> 'evidence' ->> 'group' as rule_group, z.violation ->> 'rule_id' as rule,
                z.violation ->> 'rule_name' as name
            from picked p
            join media m on m.id = p.media_id
            cross join lateral rows from (
                json_array_elements(case when json_typeof(p.trace -> 'evidence') = 'array' then p.trace -> 'evidence' end),
                json_array_elements(
                    case when json_typeof(p.details -> 'rule_violations') = 'array' then p.details -> 'rule_violations' end
                )
            ) as z (evidence, violation)
        )
        select
            site_id as "site!", team_id as "team!", day as "day!", rule_group as "rule_group!", rule as "rule!",
            min(name) as "name!", count(*) as "matches!"
        from matched
        where rule_group is not null and rule is not null and name is not null
        group by site_id, team_id, day, rule_group, rule
        "#
    );
    for row in rows {
        // Ids are read here: one that cannot be read would fail the whole statement.
        let (Ok(group), Ok(rule)) = (row.rule_group.parse::<Uuid>(), row.rule.parse::<Uuid>())
        else {
            continue;
        };
        let matched = Matched {
            name: row.name,
            matches: row.matches,
        };
        for subject in [row.site, row.team] {
            tally.add_matches((subject, row.day, group, rule), &matched);
        }
    }
    Ok(())
}

/// Attempts to deliver webhooks.
pub(super) async fn add_attempts(
    conn: &mut PgConnection,
    range: &Range,
    backfill: Option<&Backfill>,
    tally: &mut Tally,
) -> Result<(), sqlx::Error> {
    let rows = counted!(
        conn,
        range,
        backfill,
        "delivery_attempts",
        r#"
        with picked as (
            select delivery_id, outcome, started_at + duration_ms * interval '1 millisecond' as ended_at
            from delivery_attempts
            where
                stored_by >= $1::bigint::text::xid8 and stored_by < $2::bigint::text::xid8
                and stored_by <> all($3::bigint []::text []::xid8 [])
                and started_at >= coalesce($5::timestamptz, '-infinity')
            union all
            select delivery_id, outcome, started_at + duration_ms * interval '1 millisecond'
            from delivery_attempts
            where stored_by = any($4::bigint []::text []::xid8 [])
            union all
            select delivery_id, outcome, started_at + duration_ms * interval '1 millisecond'
            from delivery_attempts
            where delivery_id > $6 and delivery_id <= $7 and stored_by is null
        )
        select
            e.site_id as "site!", s.team_id as "team!", date_trunc('hour', p.ended_at, 'UTC') as "hour!",
            count(*) filter (where p.outcome = 'delivered') as "delivered!",
            count(*) filter (where p.outcome <> 'delivered') as "failed!"
        from picked p
        join deliveries d on d.id = p.delivery_id
        join webhook_endpoints e on e.id = d.endpoint_id
        join sites s on s.id = e.site_id
        group by 1, 2, 3
        "#
    );
    for row in rows {
        let figures = Figures {
            delivered: row.delivered,
            failed_attempts: row.failed,
            ..Figures::default()
        };
        tally.add([row.site, row.team], row.hour, figures);
    }
    Ok(())
}

/// Whether one slice is not enough for all deliveries that were given up.
pub(super) async fn many_given_up(conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select exists (select from statistics_given_up order by id offset $1 limit 1) as "many!""#,
        ROWS,
    )
    .fetch_one(conn)
    .await
}

/// Counts deliveries that were given up, and deletes their records.
pub(super) async fn take_given_up(
    conn: &mut PgConnection,
    tally: &mut Tally,
) -> Result<(), sqlx::Error> {
    let rows = sqlx::query!(
        r#"
        with taken as (
            delete from statistics_given_up
            where id in (select id from statistics_given_up order by id limit $1)
            returning endpoint_id, state, ended_at
        )
        select
            e.site_id as "site!", s.team_id as "team!", date_trunc('hour', t.ended_at, 'UTC') as "hour!",
            count(*) filter (where t.state = 'exhausted') as "exhausted!",
            count(*) filter (where t.state = 'discarded') as "discarded!"
        from taken t
        join webhook_endpoints e on e.id = t.endpoint_id
        join sites s on s.id = e.site_id
        group by 1, 2, 3
        "#,
        ROWS,
    )
    .fetch_all(conn)
    .await?;
    for row in rows {
        let figures = Figures {
            exhausted: row.exhausted,
            discarded: row.discarded,
            ..Figures::default()
        };
        tally.add([row.site, row.team], row.hour, figures);
    }
    Ok(())
}
