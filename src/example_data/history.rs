//! What happened to each item: its verdict, what a person decided, and the webhooks that told it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{
    decision::{Found, ManualDetails},
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, MediaId, MemberId, SiteId},
    media::{Modality, ModerationType, Status},
    reason::Reason,
    webhook::next_delay,
};
use serde_json::{json, value::to_raw_value};
use store::{
    analysis::ProviderReport,
    example_data::{Analysis, Attempt, Batch, Delivery, Event, Item, Verdict},
};
use uuid::Uuid;

use super::{
    Judge,
    plan::{Chance, Kind, Place, Planned, text},
};

/// A site of the example, with what belongs to it.
pub(super) struct Site {
    pub(super) id: SiteId,
    pub(super) place: Place,
    pub(super) judge: Judge,
    pub(super) endpoint: Endpoint,
}

/// The person who decides.
pub(super) struct Moderator {
    pub(super) id: MemberId,
    pub(super) name: String,
}

/// A decision takes so long at most, from five minutes on.
const LONGEST_WAIT_MINUTES: u32 = 7 * 60;
/// Of the items that wait for a person, so many of a thousand were decided.
const DECIDED: u32 = 560;
/// Of these, so many were approved.
const APPROVED: u32 = 600;

const APPROVALS: [&str; 2] = ["Looks fine.", "Unusual, but within the rules."];
const REJECTIONS: [&str; 2] = ["Against the house rules.", "Advertising."];

/// Invents an item of this site, and all that followed from it until `now`.
pub(super) fn add(
    planned: &Planned,
    site: &Site,
    moderator: &Moderator,
    now: DateTime<Utc>,
    (batch, chance): (&mut Batch, &mut Chance),
) -> anyhow::Result<()> {
    let body = text(planned.place, planned.kind, chance);
    let (verdict, scores) = site.judge.judge(&body);
    let id = MediaId::from(id_at(planned.at));
    let milliseconds = 40 + chance.below(600);
    let moderated_at = planned.at + Duration::from_millis(u64::from(milliseconds));
    let details = verdict.details(Some(u64::from(milliseconds)));
    let scores = to_raw_value(&scores)?;
    batch.analyses.push(Analysis {
        media_id: id,
        providers: vec![ProviderReport {
            provider: "builtin".to_owned(),
            modality: Modality::Text,
            scores: verdict.ai_analysis.unwrap_or_default(),
            elapsed_ms: 1,
            failure: None,
            unseen: None,
            raw: None,
            cached_from: None,
        }],
        scores,
        created_at: moderated_at,
    });
    let machine = Verdict {
        media_id: id,
        number: 1,
        status: verdict.status.as_str(),
        previous_status: Status::Pending.as_str(),
        moderation_type: verdict.moderation_type.as_str(),
        details: to_raw_value(&details)?,
        trace: to_raw_value(&verdict.trace)?,
        moderated_at,
    };
    let created = Event {
        id: EventId::of_acceptance(id),
        media_id: id,
        site_id: site.id,
        kind: EventKind::MediaCreated.as_str(),
        verdict: None,
        occurred_at: planned.at,
    };
    tell(
        created,
        EventKind::MediaCreated,
        &site.endpoint,
        now,
        (batch, chance),
    );
    moderated(&machine, site, now, (batch, chance));
    let decided = match verdict.status {
        Status::PendingReview => decide(&machine, moderator, now, chance)?,
        Status::Pending | Status::Approved | Status::Rejected => None,
    };
    if let Some(decided) = &decided {
        moderated(decided, site, now, (batch, chance));
    }
    let last = decided.as_ref().unwrap_or(&machine);
    let author = author(planned, chance);
    let metadata = match planned.place {
        Place::Marketplace => json!({ "author": author, "listing": 1_000 + chance.below(9_000) }),
        Place::Forum => json!({ "author": author, "thread": 100 + chance.below(400) }),
    };
    batch.items.push(Item {
        id,
        site_id: site.id,
        status: last.status,
        app_media_id: format!("example-{}", planned.at.timestamp_millis()),
        body,
        metadata: to_raw_value(&metadata)?,
        author,
        group_versions: site.judge.versions(),
        verdict: last.number,
        created_at: planned.at,
        waiting_since: (last.status == Status::PendingReview.as_str()).then_some(moderated_at),
    });
    batch.verdicts.push(machine);
    batch.verdicts.extend(decided);
    Ok(())
}

/// What the moderator decided about an item that waits; none if it still waits.
fn decide(
    machine: &Verdict,
    moderator: &Moderator,
    now: DateTime<Utc>,
    chance: &mut Chance,
) -> anyhow::Result<Option<Verdict>> {
    let minutes = 5 + chance.below(LONGEST_WAIT_MINUTES);
    let moderated_at = machine.moderated_at + Duration::from_secs(60 * u64::from(minutes));
    if !chance.happens(DECIDED) || moderated_at + Duration::from_mins(1) > now {
        return Ok(None);
    }
    let (status, reasons) = if chance.happens(APPROVED) {
        (Status::Approved, APPROVALS)
    } else {
        (Status::Rejected, REJECTIONS)
    };
    let reason: Reason = chance.pick(&reasons).to_owned().try_into()?;
    let found: Found = serde_json::from_str(machine.details.get())?;
    // As `store::media::decide` writes it.
    let trace = json!({
        "moderator": { "member_id": moderator.id, "member_name": moderator.name },
        "reason": reason,
    });
    Ok(Some(Verdict {
        media_id: machine.media_id,
        number: machine.number + 1,
        status: status.as_str(),
        previous_status: machine.status,
        moderation_type: ModerationType::Manual.as_str(),
        details: to_raw_value(&ManualDetails::new(&reason, &found))?,
        trace: to_raw_value(&trace)?,
        moderated_at,
    }))
}

fn moderated(
    verdict: &Verdict,
    site: &Site,
    now: DateTime<Utc>,
    (batch, chance): (&mut Batch, &mut Chance),
) {
    let event = Event {
        id: EventId::from(id_at(verdict.moderated_at)),
        media_id: verdict.media_id,
        site_id: site.id,
        kind: EventKind::MediaModerated.as_str(),
        verdict: Some(verdict.number),
        occurred_at: verdict.moderated_at,
    };
    tell(
        event,
        EventKind::MediaModerated,
        &site.endpoint,
        now,
        (batch, chance),
    );
}

/// Some write much, and the coupons come from few.
fn author(planned: &Planned, chance: &mut Chance) -> String {
    let place = match planned.place {
        Place::Marketplace => "seller",
        Place::Forum => "member",
    };
    let number = match planned.kind {
        Kind::Coupons => 900 + chance.below(4),
        Kind::Refused => chance.below(40),
        Kind::Ordinary | Kind::Doubtful => chance.below(260),
    };
    format!("{place}-{number:03}")
}

/// An id that was made at this time.
fn id_at(time: DateTime<Utc>) -> Uuid {
    let milliseconds = u64::try_from(time.timestamp_millis()).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(milliseconds, &rand::random()).into_uuid()
}

pub(super) struct Endpoint {
    pub(super) id: EndpointId,
    pub(super) url: String,
    pub(super) events: Vec<EventKind>,
    /// Since when nothing arrives.
    pub(super) failing_since: Option<DateTime<Utc>>,
}

/// Adds an event, and its delivery if the endpoint wants it. The delivery has ended before `now`.
fn tell(
    event: Event,
    kind: EventKind,
    endpoint: &Endpoint,
    now: DateTime<Utc>,
    (batch, chance): (&mut Batch, &mut Chance),
) {
    if endpoint.events.contains(&kind) {
        let delivery = DeliveryId::of(event.id, endpoint.id);
        let fails = endpoint
            .failing_since
            .is_some_and(|since| event.occurred_at >= since);
        // How many attempts fail before one succeeds.
        let failures = match chance.below(1_000) {
            _ if fails => u16::MAX,
            0..=24 => 1,
            25..=34 => 2,
            _ => 0,
        };
        let mut at = event.occurred_at + Duration::from_millis(20 + u64::from(chance.below(80)));
        let mut number: u16 = 1;
        let mut ended_at;
        loop {
            let attempt = attempt(delivery, number, at, endpoint, failures, chance);
            ended_at = at + millis(attempt.duration_ms);
            batch.attempts.push(attempt);
            if number > failures {
                break;
            }
            let wait = next_delay(number, f64::from(chance.below(100)) / 100.0, None);
            // What would be tried again later has been given up here, so that nothing is ever sent.
            match wait.map(|wait| ended_at + wait) {
                Some(next) if next + LONGEST < now => at = next,
                _ => break,
            }
            number += 1;
        }
        batch.deliveries.push(Delivery {
            id: delivery,
            event_id: event.id,
            endpoint_id: endpoint.id,
            delivered: number > failures,
            attempts: small(number),
            created_at: event.occurred_at,
            ended_at,
        });
    }
    batch.events.push(event);
}

/// No attempt takes longer.
const LONGEST: Duration = Duration::from_secs(2);

fn attempt(
    delivery: DeliveryId,
    number: u16,
    started_at: DateTime<Utc>,
    endpoint: &Endpoint,
    failures: u16,
    chance: &mut Chance,
) -> Attempt {
    let arrives = number > failures;
    let refuses = endpoint.failing_since.is_none() || failures < u16::MAX;
    let (outcome, status_code, response_body, error) = match (arrives, refuses) {
        (true, _) => ("delivered", Some(200), None, None),
        (false, true) => ("status", Some(503), Some("Please try again later."), None),
        (false, false) => (
            "connect",
            None,
            None,
            Some("the connection could not be established"),
        ),
    };
    Attempt {
        delivery_id: delivery,
        number: small(number),
        started_at,
        duration_ms: i32::try_from(30 + chance.below(400)).unwrap_or(0),
        outcome,
        status_code,
        response_body,
        url: endpoint.url.clone(),
        error,
    }
}

fn millis(duration: i32) -> Duration {
    Duration::from_millis(u64::try_from(duration).unwrap_or(0))
}

fn small(number: u16) -> i16 {
    i16::try_from(number).unwrap_or(i16::MAX)
}
