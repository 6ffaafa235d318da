//! Dead jobs, for operators: list, count by cause, enqueue again.

use chrono::{DateTime, Utc};
use domain::{audit::Action, scope::Scope};
use queue::dead_jobs::{self, Batch, Replay};
pub use queue::{
    DeathCause, JobId,
    dead_jobs::{DeadJobRecord, Filter, Group, Place},
};
use serde_json::{Map, Value, json};
pub use store::jobs::subject;
use store::{Error, jobs, team};

use crate::{Caller, Refused, Session};

/// Dead jobs counted by queue, cause and error.
#[derive(Clone, Debug)]
pub struct Summary {
    /// When they were counted, by the database's clock.
    pub at: DateTime<Utc>,
    /// How many match.
    pub matching: u64,
    /// The largest groups.
    pub groups: Vec<Group>,
}

/// Dead jobs, the latest first, at most `limit`.
///
/// # Errors
/// The caller may not do it.
pub async fn list(
    caller: &Caller,
    filter: Filter<'_>,
    limit: u32,
) -> Result<Vec<DeadJobRecord>, Refused> {
    let mut session = read(caller).await?;
    let found = dead_jobs::list(session.conn(), filter, limit).await;
    Ok(found.map_err(Error::from)?)
}

/// Dead jobs by queue, cause and error, the largest group first, at most `limit` groups. Takes time
/// in proportion to the jobs, some seconds for a million.
///
/// # Errors
/// The caller may not do it.
pub async fn summary(caller: &Caller, filter: Filter<'_>, limit: u32) -> Result<Summary, Refused> {
    let mut session = read(caller).await?;
    let conn = session.conn();
    let at = queue::now(conn).await.map_err(Error::from)?;
    let groups = dead_jobs::summary(conn, filter, limit).await;
    let groups = groups.map_err(Error::from)?;
    let matching = dead_jobs::count(conn, filter).await.map_err(Error::from)?;
    Ok(Summary {
        at,
        matching,
        groups,
    })
}

/// How many dead jobs match. Takes time in proportion to them.
///
/// # Errors
/// The caller may not do it.
pub async fn count(caller: &Caller, filter: Filter<'_>) -> Result<u64, Refused> {
    let mut session = read(caller).await?;
    let count = dead_jobs::count(session.conn(), filter).await;
    Ok(count.map_err(Error::from)?)
}

/// Begins a replay of the jobs that match and are dead now. Nothing is replayed yet.
///
/// # Errors
/// The caller may not do it.
pub async fn begin_replay<'a>(caller: &Caller, filter: Filter<'a>) -> Result<Replay<'a>, Refused> {
    let mut session = change(caller).await?;
    let replay = Replay::begin(session.conn(), filter).await;
    Ok(replay.map_err(Error::from)?)
}

/// The next step of a replay: visits at most `limit` dead jobs, the longest dead first, and enqueues
/// those that match, in one transaction.
///
/// # Errors
/// The caller may not do it.
pub async fn replay(
    caller: &Caller,
    replay: &mut Replay<'_>,
    limit: u32,
) -> Result<Batch, Refused> {
    let mut session = change(caller).await?;
    let filter = replay.filter();
    let batch = replay.next(session.conn(), limit).await;
    let batch = batch.map_err(Error::from)?;
    if batch.replayed == 0 {
        return Ok(batch);
    }
    let details = json!({
        "replayed": batch.replayed,
        "queues": batch.queues,
        "filter": recorded(&filter),
    });
    let of_team = match (filter.group, filter.lane) {
        (Some(queue::Group(id)), _) | (None, Some(queue::Lane(id))) => {
            team::of_group_or_lane(session.conn(), id).await?
        }
        (None, None) => None,
    };
    let action = Action::DeadJobsReplay;
    let done = session.commit_without_target(action, of_team, &details);
    done.await?;
    let known = jobs::ALL.into_iter();
    let woken = known.filter(|queue| batch.queues.iter().any(|name| name == queue.as_str()));
    caller.management.queue.wake(woken);
    Ok(batch)
}

async fn read(caller: &Caller) -> Result<Session, Refused> {
    let session = caller.read(Scope::QueuesRead).await?;
    session.require_operator()?;
    Ok(session)
}

async fn change(caller: &Caller) -> Result<Session, Refused> {
    let session = caller.change(Scope::QueuesWrite).await?;
    session.require_operator()?;
    Ok(session)
}

/// The conditions of a replay that were given. An error text may be long, and it is not recorded
/// beyond its beginning.
fn recorded(filter: &Filter<'_>) -> Value {
    const LONGEST: usize = 200;
    /// More ids than a person reads. `replayed` has their number.
    const MOST_IDS: usize = 100;
    let mut given = Map::new();
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            given.insert(name.to_owned(), value);
        }
    };
    let ids = filter.ids.map(|ids| ids.iter().take(MOST_IDS));
    add("ids", ids.map(|ids| ids.map(|id| id.0).collect()));
    add("queue", filter.queue.map(Value::from));
    add("group_id", filter.group.map(|group| json!(group.0)));
    add("lane_id", filter.lane.map(|lane| json!(lane.0)));
    add("cause", filter.cause.map(|cause| cause.as_str().into()));
    let error = filter.error.map(|text| text.chars().take(LONGEST));
    add("error", error.map(|text| text.collect::<String>().into()));
    let time = |place: dead_jobs::Place| domain::event::timestamp(place.died_at).into();
    add("since", filter.after.map(time));
    add("until", filter.before.map(time));
    Value::Object(given)
}
