//! The settings of a new endpoint, the settings that can be changed, and their checks.

use std::{collections::BTreeSet, sync::Arc};

use domain::{
    audit::Action,
    bounded_integer::BoundedInteger,
    event::EventKind,
    id::{EndpointId, TeamId},
    name::Name,
    scope::Scope,
    webhook::{CustomHeader, EndpointUrl, InvalidHeader, MAX_HEADERS, Outcome},
};
use serde_json::json;
use store::{
    endpoint::{
        self, Pinged, Target,
        crud::{self, Settings},
    },
    jobs,
};

use crate::{
    Caller, Change, Doing, EndpointChecks, FieldProblem, Management, Noun, Refused, boxed,
};

/// How many requests a second an endpoint gets.
pub type PerSecond = BoundedInteger<1, 10_000>;

/// A custom header of every request.
#[derive(Clone, Debug)]
pub struct NewHeader {
    /// Its name. It is checked when the endpoint is created or changed.
    pub name: String,
    /// Its value. It is checked in the same way.
    pub value: String,
}

/// An endpoint to create.
#[derive(Clone, Debug)]
pub struct NewEndpoint {
    /// Its URL.
    pub url: EndpointUrl,
    /// The kinds of event that it gets. `None`: all kinds that exist now.
    pub events: Option<Vec<EventKind>>,
    /// What it is for.
    pub description: Option<Name>,
    /// The most requests a second that it gets. `None`: no limit.
    pub max_per_second: Option<PerSecond>,
    /// The custom headers of every request.
    pub headers: Vec<NewHeader>,
}

impl NewEndpoint {
    /// An endpoint with this URL that gets all events, without a limit and without custom headers.
    pub const fn at(url: EndpointUrl) -> Self {
        Self {
            url,
            events: None,
            description: None,
            max_per_second: None,
            headers: Vec::new(),
        }
    }

    /// # Errors
    /// The members that are wrong.
    pub(super) fn settings(
        self,
        team: TeamId,
        endpoint_checks: &EndpointChecks,
    ) -> Result<Settings, Refused> {
        let events = self.events.map(checked_events);
        Ok(Settings {
            url: judged(team, self.url, endpoint_checks)?,
            events: events.unwrap_or_else(|| Ok(EventKind::ALL.to_vec()))?,
            description: self.description.map(Name::into),
            max_per_second: self.max_per_second.map(plain),
            headers: checked_headers(&self.headers)?,
        })
    }
}

/// Settings of an endpoint to change. A member that is `None` keeps its value.
#[derive(Clone, Debug, Default)]
pub struct EndpointChange {
    /// Its new URL. Waiting deliveries go there, too.
    pub url: Option<EndpointUrl>,
    /// All kinds of event that it gets from now on.
    pub events: Option<Vec<EventKind>>,
    /// What it is for. An inner `None` removes the description.
    pub description: Option<Option<Name>>,
    /// The most requests a second that it gets. An inner `None` removes the limit.
    pub max_per_second: Option<Option<PerSecond>>,
    /// The custom headers of every request from now on.
    pub headers: Option<Vec<NewHeader>>,
}

impl EndpointChange {
    /// # Errors
    /// The members that are wrong. Only those that change are checked.
    pub(super) fn applied_to(
        self,
        old: Settings,
        team: TeamId,
        endpoint_checks: &EndpointChecks,
    ) -> Result<Settings, Refused> {
        Ok(Settings {
            url: match self.url {
                Some(url) => judged(team, url, endpoint_checks)?,
                None => old.url,
            },
            events: self.events.map_or(Ok(old.events), checked_events)?,
            description: match self.description {
                Some(wish) => wish.map(Name::into),
                None => old.description,
            },
            max_per_second: match self.max_per_second {
                Some(wish) => wish.map(plain),
                None => old.max_per_second,
            },
            headers: match self.headers {
                Some(headers) => checked_headers(&headers)?,
                None => old.headers,
            },
        })
    }
}

fn judged(
    team: TeamId,
    address: EndpointUrl,
    endpoint_checks: &EndpointChecks,
) -> Result<String, Refused> {
    let judged = endpoint_checks.judge(team, address.url());
    judged.map_err(|why| Refused::field("url", why))?;
    Ok(address.into())
}

/// Each once, in one order.
fn checked_events(events: Vec<EventKind>) -> Result<Vec<EventKind>, Refused> {
    let events: BTreeSet<EventKind> = events.into_iter().collect();
    if events.is_empty() {
        let message = "must name at least one kind of event; to send nothing, disable the endpoint";
        return Err(Refused::field("events", message));
    }
    Ok(events.into_iter().collect())
}

fn checked_headers(headers: &[NewHeader]) -> Result<Vec<CustomHeader>, Refused> {
    if headers.len() > MAX_HEADERS {
        let message = format!("has more than {MAX_HEADERS} headers");
        return Err(Refused::field("headers", message));
    }
    let (mut checked, mut problems) = (Vec::with_capacity(headers.len()), Vec::new());
    let mut blame = |place: usize, member: &str, message: String| {
        problems.push(FieldProblem {
            field: format!("headers[{place}].{member}"),
            message,
            position: None,
        });
    };
    let mut names = BTreeSet::new();
    for (place, header) in headers.iter().enumerate() {
        match CustomHeader::new(&header.name, &header.value) {
            Ok(header) if !names.insert(header.name().to_owned()) => {
                blame(place, "name", "is given twice".to_owned());
            }
            Ok(header) => checked.push(header),
            Err(wrong @ (InvalidHeader::Name | InvalidHeader::Reserved)) => {
                blame(place, "name", wrong.to_string());
            }
            Err(wrong @ InvalidHeader::Value) => blame(place, "value", wrong.to_string()),
        }
    }
    if problems.is_empty() {
        Ok(checked)
    } else {
        Err(Refused::fields(problems))
    }
}

fn plain(limit: PerSecond) -> i32 {
    i32::try_from(limit.get()).unwrap_or(i32::MAX)
}

/// Sends `webhook.test.ping` to an endpoint, disabled or not, and waits for the end. If it
/// succeeds, deliveries that wait for their next attempt are due now. Otherwise it does not change
/// the endpoint's delivery health.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach; too many tests run, or that endpoint was tested too
/// often.
#[boxed]
pub async fn ping(caller: &Caller, endpoint: EndpointId) -> Result<Pinged, Refused> {
    let mut session = caller.read(Scope::WebhooksWrite).await?;
    let (reach, key) = (session.reach(), caller.management.master_key()?);
    let target = endpoint::target(session.conn(), key, reach, endpoint).await?;
    let target = target.ok_or(Refused::NotFound(Noun::Endpoint))?;
    // No transaction is open during a call to another machine.
    let (doing, management) = (session.leave(), Arc::clone(&caller.management));
    // What was sent is recorded even if the caller no longer waits for it.
    let pinging = tokio::spawn(async move { run(&management, doing, target).await });
    pinging.await.map_err(|_| Refused::Internal)?
}

async fn run(management: &Management, doing: Doing, target: Target) -> Result<Pinged, Refused> {
    let (endpoint, team) = (target.endpoint, target.team);
    let pinged = management.endpoint_checks.ping(target).await?;
    let details = json!({ "outcome": pinged.outcome, "status_code": pinged.status_code });
    let change = Change::new(Action::EndpointPing, team, endpoint, details);
    let delivered = pinged.outcome == Outcome::Delivered.as_str();
    let mut tx = doing.begin(management).await?;
    if delivered {
        crud::retry_now(&mut tx, endpoint).await?;
    }
    doing.done(tx, change).await?;
    if delivered {
        management.queue.wake([jobs::WEBHOOKS]);
    }
    Ok(pinged)
}
