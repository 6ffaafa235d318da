//! The only way to store and tell verdicts of machines and people: the item's status changes, the verdict
//! is stored, the list of items that wait for a person is updated, and an event goes to every
//! endpoint that wants it.

use chrono::{DateTime, Utc};
use domain::{
    decision::MissingScores,
    id::{DeliveryId, EndpointId, MediaId},
    media::{ModerationType, Status, Step},
};
use metrics::{Counter, Histogram, counter, histogram};
use queue::NewJobs;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    analysis::Analysed,
    created_event::Created,
    jobs::{self, Pages, Turn},
    json::to_json,
};

/// A verdict to store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conclusion<'a> {
    /// The item.
    pub(crate) media: MediaId,
    /// The status that it must still have, and the status that it gets.
    pub(crate) step: Step,
    /// Who or what decided.
    pub(crate) moderation_type: ModerationType,
    /// `moderation_details` as JSON.
    pub(crate) details: &'a str,
    /// The trace as JSON.
    pub(crate) trace: &'a str,
    /// The analysis that it is based on, unless that is stored already.
    pub(crate) analysed: Option<&'a Analysed>,
    /// The acceptance, unless it was told already. It is told first.
    pub(crate) created: Option<&'a Created>,
}

/// Shows verdicts of these types as 0 from the start: a counter that first appears with its first
/// verdict shows no increase.
pub fn expect_none(types: &[ModerationType]) {
    for moderation_type in types {
        for status in Status::ALL
            .iter()
            .filter(|status| **status != Status::Pending)
        {
            decisions(status.to_string(), moderation_type.to_string()).increment(0);
        }
    }
    if types.iter().any(|by| *by != ModerationType::Manual) {
        let _shown = times();
    }
}

fn decisions(status: String, moderation_type: String) -> Counter {
    counter!("gatehouse_decisions_total", "status" => status, "type" => moderation_type)
}

fn times() -> Histogram {
    histogram!("gatehouse_time_to_decision_seconds")
}

/// Stores verdicts of items that still have the status that the verdicts begin with, with their
/// events and deliveries, and adds the jobs of the deliveries. Of items that are judged for one answer
/// only, nobody is told; the jobs that remove them are added. Items whose status changed in the
/// meantime are skipped: nothing is stored or told of them. Returns which items were decided, and
/// when.
pub(crate) async fn conclude(
    conn: &mut PgConnection,
    verdicts: &[Conclusion<'_>],
    added: &mut NewJobs,
) -> Result<Vec<(MediaId, DateTime<Utc>)>, sqlx::Error> {
    let mut decided = Vec::with_capacity(verdicts.len());
    let mut pages = Pages::default();
    let rows = decide(conn, &Columns::of(verdicts)?).await?;
    let item = |row: &Decided| row.media_id;
    for rows in rows.chunk_by(|one, other| item(one) == item(other)) {
        let Some(first) = rows.first() else { continue };
        decisions(first.status.clone(), first.moderation_type.clone()).increment(1);
        // People take hours. In one figure with the machine, they would hide how long the machine
        // takes.
        if first.number == 1 {
            times().record(first.seconds);
        }
        decided.push((first.media_id.into(), first.moderated_at));
        if first.is_transient {
            added.push(jobs::remove(first.media_id.into(), first.team_id.into()));
        }
        for rows in rows.chunk_by(|one, other| one.endpoint_id == other.endpoint_id) {
            let turn: Turn = rows
                .iter()
                .filter_map(|row| row.delivery_id)
                .map(DeliveryId::from)
                .collect();
            if let Some(endpoint) = rows.first().and_then(|row| row.endpoint_id) {
                pages.push(first.team_id.into(), EndpointId::from(endpoint), turn);
            }
        }
    }
    pages.add_to(added);
    Ok(decided)
}

/// Verdicts as the columns of their statement.
#[derive(Default)]
struct Columns<'a> {
    media: Vec<Uuid>,
    number: Vec<i16>,
    previous: Vec<&'a str>,
    status: Vec<&'a str>,
    moderation_type: Vec<&'a str>,
    details: Vec<&'a str>,
    trace: Vec<&'a str>,
    /// The event that tells the verdict.
    event: Vec<Uuid>,
    /// The event that tells the acceptance, and its endpoints; none if it was told.
    created: Vec<Option<Uuid>>,
    endpoints: Vec<Option<String>>,
    scores: Vec<Option<String>>,
    image_scored: Vec<Option<bool>>,
    /// None if there is no analysis to store.
    providers: Vec<Option<String>>,
    unchecked: Vec<Option<String>>,
    /// None if there are none, which is usual.
    gaps: Vec<Option<String>>,
}

impl<'a> Columns<'a> {
    fn of(verdicts: &[Conclusion<'a>]) -> Result<Self, sqlx::Error> {
        let mut columns = Self::default();
        for verdict in verdicts {
            columns.push(verdict)?;
        }
        Ok(columns)
    }

    fn push(&mut self, verdict: &Conclusion<'a>) -> Result<(), sqlx::Error> {
        let Conclusion {
            media,
            step,
            moderation_type,
            details,
            trace,
            analysed,
            created,
        } = *verdict;
        self.media.push(media.as_uuid());
        self.number.push(number(step));
        self.previous.push(step.from().status.as_str());
        self.status.push(step.to().as_str());
        self.moderation_type.push(moderation_type.as_str());
        self.details.push(details);
        self.trace.push(trace);
        self.event.push(Uuid::now_v7());
        self.created.push(created.map(Created::event));
        self.endpoints.push(created.map(Created::endpoints_as_text));
        let scores = analysed.and_then(|analysed| analysed.scores.as_ref());
        self.scores.push(scores.map(to_json).transpose()?);
        self.image_scored
            .push(analysed.and_then(|analysed| analysed.image_scored));
        let providers = analysed.map(|analysed| to_json(&analysed.providers));
        self.providers.push(providers.transpose()?);
        let unchecked = analysed.map(|analysed| to_json(&analysed.unchecked));
        self.unchecked.push(unchecked.transpose()?);
        let gaps = analysed.filter(|analysed| !analysed.gaps.iter().all(MissingScores::is_empty));
        let gaps = gaps.map(|analysed| to_json(&analysed.gaps));
        self.gaps.push(gaps.transpose()?);
        Ok(())
    }
}

/// A verdict's number as it is stored. Above 32,767 it is a number that exists already, which the
/// guard refuses.
fn number(step: Step) -> i16 {
    i16::try_from(step.number()).unwrap_or(i16::MAX)
}

struct Decided {
    media_id: Uuid,
    team_id: Uuid,
    number: i16,
    status: String,
    moderation_type: String,
    moderated_at: DateTime<Utc>,
    seconds: f64,
    is_transient: bool,
    endpoint_id: Option<Uuid>,
    delivery_id: Option<Uuid>,
}

/// One row for each delivery, or for an item without any: items together, and of an item the
/// deliveries of an endpoint together, the acceptance's first.
#[expect(clippy::too_many_lines, reason = "nearly all of it is one statement")]
async fn decide(
    conn: &mut PgConnection,
    verdicts: &Columns<'_>,
) -> Result<Vec<Decided>, sqlx::Error> {
    // The guard names the status and the number of the present verdict: of two callers that saw the
    // same verdict, one wins. The time is taken after the row is locked, so that an item's verdicts
    // are in the order of their times.
    sqlx::query_as!(
        Decided,
        r#"
        with input as materialized (
            select i.*, i.endpoint_ids::uuid [] as endpoints
            from unnest(
                $1::uuid [], $2::smallint [], $3::text [], $4::text [], $5::text [], $6::text [], $7::text [],
                $8::uuid [], $9::uuid [], $10::text [], $11::text [], $12::boolean [], $13::text [], $14::text [],
                $15::text []
            ) as i (
                media_id, number, previous_status, status, moderation_type, details, trace,
                event_id, created_id, endpoint_ids, scores, image_scored, providers, unchecked, gaps
            )
        ),
        concluded as materialized (
            update media m
            set status = i.status, verdict = i.number
            from input i
            where m.id = i.media_id and m.status = i.previous_status and coalesce(m.verdict, 0) = i.number - 1 and m.erased_at is null
            returning m.id, m.team_id, m.site_id, m.created_at, m.is_transient, i.*, clock_timestamp() as moderated_at
        ),
        new_analyses as (
            insert into analyses (media_id, scores, image_scored, providers, unchecked, gaps)
            select id, scores::json, image_scored, providers::json, unchecked::json, gaps::json
            from concluded
            where providers is not null
            on conflict on constraint analyses_pkey do nothing
        ),
        new_verdicts as (
            insert into verdicts
                (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
            select id, number, status, previous_status, moderation_type, details::json, trace::json, moderated_at
            from concluded
        ),
        new_reviews as (
            insert into reviews (media_id, team_id, site_id, waiting_since)
            select id, team_id, site_id, moderated_at from concluded where status = 'pending_review' and is_transient is null
        ),
        ended_reviews as (
            delete from reviews
            where media_id in (select id from concluded where previous_status = 'pending_review')
        ),
        -- That of an acceptance may be there already.
        new_events as (
            insert into events (id, media_id, site_id, verdict, occurred_at, kind)
            select created_id, id, site_id, null::smallint, created_at, 'media.created'
            from concluded
            where created_id is not null
            union all
            select event_id, id, site_id, number, moderated_at, 'media.moderated' from concluded where is_transient is null
            on conflict (id) do nothing
            returning id
        ),
        -- One row for each delivery, or for an item without any.
        told as materialized (
            select
                c.id, c.team_id, c.number, c.status, c.moderation_type, c.moderated_at, c.created_at, c.is_transient,
                d.endpoint_id, d.event_id, d.place, delivery_id_of(d.event_id, d.endpoint_id) as delivery_id
            from concluded c
            left join lateral (
                select e.id as endpoint_id, k.event_id, k.place
                from webhook_endpoints e
                cross join (values (c.created_id, 1), (c.event_id, 2)) as k (event_id, place)
                where
                    e.site_id = c.site_id and c.is_transient is null
                    and case k.place
                        when 2 then e.disabled_at is null and 'media.moderated' = any(e.events)
                        else
                            k.event_id in (select id from new_events)
                            and (
                                e.id = any(c.endpoints)
                                -- As in `created::tell`: recoveries of what an endpoint has missed.
                                or e.disabled_at is null and 'media.created' = any(e.events) and exists (
                                    select
                                    from webhook_recoveries r
                                    where
                                        r.endpoint_id = e.id and r.kind = 'missing' and r.state in ('running', 'finished')
                                        and coalesce(r.event, 'media.created') = 'media.created'
                                        and r.created_at > c.created_at
                                        and r.since <= c.created_at and r.until > c.created_at
                                )
                            )
                    end
            ) d on true
        ),
        new_deliveries as (
            insert into deliveries (id, event_id, endpoint_id)
            select delivery_id, event_id, endpoint_id from told where delivery_id is not null
        )
        select
            id as "media_id!",
            team_id as "team_id!",
            number as "number!",
            status as "status!",
            moderation_type as "moderation_type!",
            moderated_at as "moderated_at!",
            extract(epoch from moderated_at - created_at)::float8 as "seconds!",
            is_transient is not null as "is_transient!",
            endpoint_id as "endpoint_id?",
            delivery_id as "delivery_id?"
        from told
        order by id, endpoint_id, place
        "#,
        &verdicts.media,
        &verdicts.number,
        &verdicts.previous as &[&str],
        &verdicts.status as &[&str],
        &verdicts.moderation_type as &[&str],
        &verdicts.details as &[&str],
        &verdicts.trace as &[&str],
        &verdicts.event,
        &verdicts.created as &[Option<Uuid>],
        &verdicts.endpoints as &[Option<String>],
        &verdicts.scores as &[Option<String>],
        &verdicts.image_scored as &[Option<bool>],
        &verdicts.providers as &[Option<String>],
        &verdicts.unchecked as &[Option<String>],
        &verdicts.gaps as &[Option<String>],
    )
    .fetch_all(conn)
    .await
}
