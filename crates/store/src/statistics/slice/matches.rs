//! How often rules matched: the violations that machine verdicts list.

use sqlx::PgConnection;
use uuid::Uuid;

use super::{Matched, Tally, backfill::Backfill, transactions::Range};

pub(super) async fn add(
    conn: &mut PgConnection,
    range: &Range,
    backfill: Option<&Backfill>,
    tally: &mut Tally,
) -> Result<(), sqlx::Error> {
    let (after, through) = Backfill::of(backfill, "verdicts");
    // The trace has the evidence for each violation, in their order. A person's verdict repeats the
    // violations that the machine found.
    let rows = sqlx::query!(
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
        "#,
        range.from,
        range.to,
        &range.open,
        &range.ended,
        range.rows_since,
        after,
        through,
    )
    .fetch_all(conn)
    .await?;
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
