//! Adding the sums of a slice to what is stored.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Tally;
use crate::statistics::Figures;

/// Rules with a row of their own, for each site or team and day. A row takes about 270 bytes.
const RULES: i64 = 200;

pub(super) async fn add_hours(
    conn: &mut PgConnection,
    hours: &HashMap<(Uuid, DateTime<Utc>), Figures>,
) -> Result<(), sqlx::Error> {
    if hours.is_empty() {
        return Ok(());
    }
    let subjects: Vec<Uuid> = hours.keys().map(|(subject, _)| *subject).collect();
    let times: Vec<DateTime<Utc>> = hours.keys().map(|(_, hour)| *hour).collect();
    let column = |of: fn(&Figures) -> i64| -> Vec<i64> { hours.values().map(of).collect() };
    sqlx::query!(
        "
        insert into statistics_hours as h (
            subject_id, hour, accepted, rule_approved, rule_rejected, rule_pending_review, ai_approved, ai_rejected,
            ai_pending_review, manual_approved, manual_rejected, failure_approved, failure_rejected, failure_pending_review,
            reviews_decided, reviews_waited_ms, delivered, failed_attempts, exhausted, discarded
        )
        select *
        from unnest(
            $1::uuid [], $2::timestamptz [], $3::bigint [], $4::bigint [], $5::bigint [], $6::bigint [], $7::bigint [],
            $8::bigint [], $9::bigint [], $10::bigint [], $11::bigint [], $12::bigint [], $13::bigint [], $14::bigint [],
            $15::bigint [], $16::bigint [], $17::bigint [], $18::bigint [], $19::bigint [], $20::bigint []
        )
        on conflict (subject_id, hour) do update set
            accepted = h.accepted + excluded.accepted,
            rule_approved = h.rule_approved + excluded.rule_approved,
            rule_rejected = h.rule_rejected + excluded.rule_rejected,
            rule_pending_review = h.rule_pending_review + excluded.rule_pending_review,
            ai_approved = h.ai_approved + excluded.ai_approved,
            ai_rejected = h.ai_rejected + excluded.ai_rejected,
            ai_pending_review = h.ai_pending_review + excluded.ai_pending_review,
            manual_approved = h.manual_approved + excluded.manual_approved,
            manual_rejected = h.manual_rejected + excluded.manual_rejected,
            failure_approved = h.failure_approved + excluded.failure_approved,
            failure_rejected = h.failure_rejected + excluded.failure_rejected,
            failure_pending_review = h.failure_pending_review + excluded.failure_pending_review,
            reviews_decided = h.reviews_decided + excluded.reviews_decided,
            reviews_waited_ms = h.reviews_waited_ms + excluded.reviews_waited_ms,
            delivered = h.delivered + excluded.delivered,
            failed_attempts = h.failed_attempts + excluded.failed_attempts,
            exhausted = h.exhausted + excluded.exhausted,
            discarded = h.discarded + excluded.discarded
        ",
        &subjects,
        &times,
        &column(|of| of.accepted),
        &column(|of| of.rules.approved),
        &column(|of| of.rules.rejected),
        &column(|of| of.rules.pending_review),
        &column(|of| of.providers.approved),
        &column(|of| of.providers.rejected),
        &column(|of| of.providers.pending_review),
        &column(|of| of.people.approved),
        &column(|of| of.people.rejected),
        &column(|of| of.failures.approved),
        &column(|of| of.failures.rejected),
        &column(|of| of.failures.pending_review),
        &column(|of| of.reviews_decided),
        &column(|of| of.reviews_waited_ms),
        &column(|of| of.delivered),
        &column(|of| of.failed_attempts),
        &column(|of| of.exhausted),
        &column(|of| of.discarded),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Rules that have a row keep it. The others that matched most in this slice get the rows that are
/// left, and the rest is added to the row of the others.
pub(super) async fn add_matches(conn: &mut PgConnection, tally: &Tally) -> Result<(), sqlx::Error> {
    if tally.matches.is_empty() {
        return Ok(());
    }
    let keys = || tally.matches.keys();
    let subjects: Vec<Uuid> = keys().map(|key| key.0).collect();
    let days: Vec<NaiveDate> = keys().map(|key| key.1).collect();
    let groups: Vec<Uuid> = keys().map(|key| key.2).collect();
    let rules: Vec<Uuid> = keys().map(|key| key.3).collect();
    let rows = || tally.matches.values();
    let names: Vec<&str> = rows().map(|of| of.name.as_str()).collect();
    let matches: Vec<i64> = rows().map(|of| of.matches).collect();
    sqlx::query!(
        "
        with input as materialized (
            select i.*, k.subject_id is not null as is_known
            from unnest($1::uuid [], $2::date [], $3::uuid [], $4::uuid [], $5::text [], $6::bigint [])
                as i (subject_id, day, rule_group_id, rule_id, name, matches)
            left join statistics_rules k using (subject_id, day, rule_group_id, rule_id)
        ),
        known as materialized (
            select i.subject_id, i.day, count(k.rule_id) as rules
            from (select distinct subject_id, day from input) i
            left join statistics_rules k
                on k.subject_id = i.subject_id and k.day = i.day and k.rule_id <> $8
            group by i.subject_id, i.day
        ),
        ranked as (
            select
                i.*,
                i.is_known or k.rules + row_number() over (
                    partition by i.subject_id, i.day, i.is_known order by i.matches desc, i.rule_group_id, i.rule_id
                ) <= $7 as has_row
            from input i
            join known k on k.subject_id = i.subject_id and k.day = i.day
        )
        insert into statistics_rules as r (subject_id, day, rule_group_id, rule_id, name, matches)
        select
            subject_id, day,
            case when has_row then rule_group_id else $8 end,
            case when has_row then rule_id else $8 end,
            min(case when has_row then name end),
            sum(matches)::bigint
        from ranked
        group by 1, 2, 3, 4
        on conflict (subject_id, day, rule_group_id, rule_id) do update set
            name = excluded.name, matches = r.matches + excluded.matches
        ",
        &subjects,
        &days,
        &groups,
        &rules,
        &names as &[&str],
        &matches,
        RULES,
        Uuid::nil(),
    )
    .execute(conn)
    .await?;
    Ok(())
}
