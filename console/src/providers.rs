//! The providers that workers are configured with, for operators: the state of each.

use askama::Template;
use chrono::{DateTime, TimeDelta, Utc};
use domain::{breaker::BreakerState, score::Category};
use management::providers::{self, Cost, CredentialStatus, Health, KnownProvider};

use crate::{
    number::grouped,
    page::{self, Answer, Frame, PageRequest},
};

/// The most credentials of a provider on the page.
const MOST: usize = 20;
/// Workers record their providers every minute. After this time, none has it.
const MISSED: TimeDelta = TimeDelta::minutes(3);

#[derive(Template)]
#[template(path = "providers.html")]
struct Shown {
    frame: Frame,
    cards: Vec<Card>,
}

struct Card {
    name: String,
    kind: String,
    texts: String,
    images: String,
    state: State,
    seen: DateTime<Utc>,
    recent: Recent,
    costs: Vec<Part>,
    credentials: Vec<Credential>,
    /// How many credentials are not shown.
    more: usize,
}

/// Whether requests are sent to it.
enum State {
    /// They are.
    Asked,
    /// They are not, until this time.
    Paused(DateTime<Utc>),
    /// No worker has recorded it of late.
    Gone,
}

/// What it did in the latest analyses.
struct Recent {
    asked: String,
    failed: String,
    has_failed: bool,
    mean: Option<String>,
    failed_at: Option<DateTime<Utc>>,
}

struct Part {
    what: String,
    today: String,
    month: String,
}

/// A credential that had a problem within a day.
struct Credential {
    tone: &'static str,
    phase: &'static str,
    failures: u32,
    openings: u32,
    open_until: Option<DateTime<Utc>>,
    paused_until: Option<DateTime<Utc>>,
    limit: Option<Limit>,
    changed: DateTime<Utc>,
}

/// A limit that the provider reported.
struct Limit {
    from_bytes: String,
    met: u32,
    passed: u32,
    until: DateTime<Utc>,
}

impl Card {
    fn new(provider: KnownProvider, health: &Health, now: DateTime<Utc>) -> Self {
        let recent = health.recent.iter().find(|of| of.provider == provider.name);
        let failed = recent.map_or(0, |recent| recent.failed);
        let conditions = health.conditions.iter();
        let of_it = conditions.filter(|of| of.provider == provider.name);
        Self {
            texts: joined(&provider.categories),
            images: joined(&provider.image_categories),
            state: match provider.paused_until {
                _ if provider.seen_at + MISSED < now => State::Gone,
                Some(until) => State::Paused(until),
                None => State::Asked,
            },
            seen: provider.seen_at,
            recent: Recent {
                asked: grouped(recent.map_or(0, |recent| recent.asked)),
                failed: grouped(failed),
                has_failed: failed > 0,
                mean: recent.and_then(|recent| recent.mean_ms).map(grouped),
                failed_at: recent.and_then(|recent| recent.failed_at),
            },
            costs: health
                .costs
                .iter()
                .filter(|of| of.provider == provider.name)
                .map(Part::from)
                .collect(),
            more: of_it.clone().count().saturating_sub(MOST),
            credentials: of_it.take(MOST).map(Credential::from).collect(),
            name: provider.name,
            kind: provider.kind,
        }
    }
}

impl From<&Cost> for Part {
    fn from(cost: &Cost) -> Self {
        Self {
            what: cost.what.replace('_', " "),
            today: grouped(cost.today),
            month: grouped(cost.month),
        }
    }
}

impl From<&CredentialStatus> for Credential {
    fn from(condition: &CredentialStatus) -> Self {
        let state = &condition.state;
        let (tone, phase) = match state.breaker.state(condition.at) {
            BreakerState::Closed => ("ok", "closed"),
            BreakerState::Open => ("no", "open"),
            BreakerState::HalfOpen => ("warn", "probing"),
        };
        let paused = state.paused_until.filter(|until| *until > condition.at);
        Self {
            tone,
            phase,
            failures: state.breaker.failures,
            openings: state.breaker.openings,
            open_until: state.breaker.open_until,
            paused_until: paused,
            limit: state.throttle.until.map(|until| Limit {
                from_bytes: grouped(state.throttle.from_bytes),
                met: state.throttle.met,
                passed: state.throttle.passed,
                until,
            }),
            changed: condition.changed_at,
        }
    }
}

fn joined(categories: &[Category]) -> String {
    let names: Vec<&str> = categories.iter().map(|of| of.as_str()).collect();
    names.join(", ")
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let frame = Frame::of(&request, "providers").await?;
    let caller = request.caller()?;
    let survey = providers::list(&caller).await?;
    let health = survey.health.unwrap_or(Health {
        conditions: Vec::new(),
        recent: Vec::new(),
        costs: Vec::new(),
    });
    let now = Utc::now();
    let providers = survey.providers.into_iter();
    Ok(page::shown(&Shown {
        frame,
        cards: providers
            .map(|provider| Card::new(provider, &health, now))
            .collect(),
    }))
}
