//! Verdicts, by who decided and by outcome, and the time that items waited for a person.

use sqlx::PgConnection;

use super::{Place, Tally, backfill::Backfill, transactions::Range};
use crate::statistics::{Figures, Outcomes};

pub(super) async fn add(
    conn: &mut PgConnection,
    range: &Range,
    backfill: Option<&Backfill>,
    tally: &mut Tally,
) -> Result<(), sqlx::Error> {
    let (after, through) = Backfill::of(backfill, "verdicts");
    // Something unchecked decided unless a rule asked for the outcome, as in `domain::decision`. The
    // trace of a judgement that died has a cause.
    let rows = sqlx::query!(
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
        let place = Place {
            site: row.site,
            team: row.team,
            hour: row.hour,
        };
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
        tally.add(place, figures);
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
