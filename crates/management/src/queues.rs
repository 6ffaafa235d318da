//! The job queues, for operators: how deep they are, what holds them back, and who works on them.

mod update;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::scope::Scope;
pub use queue::{Group, Lane, groups::GroupStats, lanes::LaneStats, workers::Worker};
use queue::{
    QueueName,
    depth::{self, QueueStats},
    groups, lanes,
    queues::Restrictions,
    workers,
};
use store::{Error, PgConnection, jobs};

pub use self::update::{Pause, Updated, update_group, update_lane, update_queue};
use crate::{Caller, Noun, Refused, Session, boxed};

/// The depth of a queue, and what holds it back.
#[derive(Clone, Debug)]
pub struct QueueState {
    /// How many jobs it has.
    pub stats: QueueStats,
    /// Its pauses and caps.
    pub restrictions: Restrictions,
    /// How many jobs of each lane may run at once if the lane has no cap of its own. `None`: as many
    /// as there is room for.
    pub lane_cap: Option<u32>,
}

/// All queues at one moment.
#[derive(Clone, Debug)]
pub struct Overview {
    /// When that was, by the database's clock.
    pub at: DateTime<Utc>,
    /// The queues: first those of this version, even if they are empty, then any others in the
    /// database.
    pub queues: Vec<QueueState>,
    /// The live workers, the oldest first.
    pub workers: Vec<Worker>,
}

/// One queue with its busiest groups and lanes.
#[derive(Clone, Debug)]
pub struct QueueDetails {
    /// When that was, by the database's clock.
    pub at: DateTime<Utc>,
    /// The queue.
    pub queue: QueueState,
    /// The groups with the most due jobs.
    pub groups: Vec<GroupStats>,
    /// How many groups have a job, a pause or a cap.
    pub all_groups: i64,
    /// The lanes with the most due jobs.
    pub lanes: Vec<LaneStats>,
    /// How many lanes have a job, a pause or a cap.
    pub all_lanes: i64,
}

/// All queues and the live workers. Takes time in proportion to the jobs, up to a second for a
/// million.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(caller: &Caller) -> Result<Overview, Refused> {
    let mut session = read(caller).await?;
    let conn = session.conn();
    Ok(Overview {
        at: queue::now(conn).await.map_err(Error::from)?,
        queues: all(conn).await?,
        workers: workers::living(conn).await.map_err(Error::from)?,
    })
}

/// A queue with the groups and lanes that have the most due jobs, at most `limit` of each.
///
/// # Errors
/// The caller may not do it; there is no such queue.
#[boxed]
pub async fn get(caller: &Caller, name: &str, limit: u32) -> Result<QueueDetails, Refused> {
    let mut session = read(caller).await?;
    let conn = session.conn();
    let at = queue::now(conn).await.map_err(Error::from)?;
    let mut queues = all(conn).await?.into_iter();
    let queue = queues
        .find(|queue| queue.stats.queue == name)
        .ok_or(Refused::NotFound(Noun::Queue))?;
    let (groups, all_groups) = groups::busiest(conn, name, limit)
        .await
        .map_err(Error::from)?;
    let (lanes, all_lanes) = lanes::busiest(conn, name, limit)
        .await
        .map_err(Error::from)?;
    Ok(QueueDetails {
        at,
        queue,
        groups,
        all_groups,
        lanes,
        all_lanes,
    })
}

/// A group of a queue. Any id is one: a group without jobs, pause and cap is empty.
///
/// # Errors
/// The caller may not do it; there is no such queue.
#[boxed]
pub async fn get_group(caller: &Caller, name: &str, group: Group) -> Result<GroupStats, Refused> {
    let mut session = read(caller).await?;
    let queue = known(name)?;
    let found = groups::read(session.conn(), queue, group).await;
    Ok(found.map_err(Error::from)?)
}

/// A lane of a queue. Any id is one: a lane without jobs, pause and cap is empty.
///
/// # Errors
/// The caller may not do it; there is no such queue.
#[boxed]
pub async fn get_lane(caller: &Caller, name: &str, lane: Lane) -> Result<LaneStats, Refused> {
    let mut session = read(caller).await?;
    let queue = known(name)?;
    let found = lanes::read(session.conn(), queue, lane).await;
    Ok(found.map_err(Error::from)?)
}

/// The groups of all queues that are paused or capped, and the `busiest` ones with the most due
/// jobs; at most `limit`.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn held_groups(
    caller: &Caller,
    busiest: u32,
    limit: u32,
) -> Result<Vec<GroupStats>, Refused> {
    let mut session = read(caller).await?;
    let found = groups::list(session.conn(), busiest, limit).await;
    Ok(found.map_err(Error::from)?)
}

/// The lanes of all queues that are paused or capped, and the `busiest` ones with the most due
/// jobs; at most `limit`.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn held_lanes(
    caller: &Caller,
    busiest: u32,
    limit: u32,
) -> Result<Vec<LaneStats>, Refused> {
    let mut session = read(caller).await?;
    let found = lanes::list(session.conn(), busiest, limit).await;
    Ok(found.map_err(Error::from)?)
}

async fn read(caller: &Caller) -> Result<Session, Refused> {
    let session = caller.read(Scope::QueuesRead).await?;
    session.require_operator()?;
    Ok(session)
}

/// The names of this version's queues. Those of an item's steps come first, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    jobs::ALL.into_iter().map(QueueName::as_str)
}

/// The queue of this version with this name.
fn known(name: &str) -> Result<QueueName, Refused> {
    let mut all = jobs::ALL.into_iter();
    all.find(|queue| queue.as_str() == name)
        .ok_or(Refused::NotFound(Noun::Queue))
}

async fn all(conn: &mut PgConnection) -> Result<Vec<QueueState>, Error> {
    let stats = depth::read(conn, &jobs::LANE_CAPS, &[]).await?;
    let mut stats: BTreeMap<String, QueueStats> = stats
        .into_iter()
        .map(|stats| (stats.queue.clone(), stats))
        .collect();
    let restrictions = queue::queues::restrictions(conn).await?;
    let mut restrictions: BTreeMap<String, Restrictions> = restrictions
        .into_iter()
        .map(|restrictions| (restrictions.queue.clone(), restrictions))
        .collect();
    let mut names: Vec<String> = jobs::ALL.map(|name| name.to_string()).into();
    for name in stats.keys().chain(restrictions.keys()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let queues = names.into_iter().map(|name| QueueState {
        stats: stats.remove(&name).unwrap_or_else(|| QueueStats {
            queue: name.clone(),
            ..QueueStats::default()
        }),
        restrictions: restrictions.remove(&name).unwrap_or_else(|| Restrictions {
            queue: name.clone(),
            ..Restrictions::default()
        }),
        lane_cap: lane_cap(&name),
    });
    Ok(queues.collect())
}

fn lane_cap(name: &str) -> Option<u32> {
    let mut caps = jobs::LANE_CAPS.iter();
    caps.find(|(queue, _)| queue.as_str() == name)
        .map(|(_, cap)| *cap)
}
