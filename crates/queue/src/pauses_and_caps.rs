//! Pauses and caps by the part of a queue that they apply to: the whole queue, a group, or a lane.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use crate::{Group, Lane, QueueName, groups, lanes, queues};

/// A part of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The whole queue. It has no cap.
    Whole,
    /// A group, with all its lanes.
    Group(Group),
    /// A lane.
    Lane(Lane),
}

/// The pause and the cap of a part of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseAndCap {
    /// How many jobs may run at once; `None` if the queue's default applies.
    pub cap: Option<i32>,
    /// Whether it is paused.
    pub is_paused: bool,
    /// The end of the pause; `None` if it is not paused, or paused until it is resumed.
    pub paused_until: Option<DateTime<Utc>>,
}

/// The pause and the cap of a part now. If it has any, nobody else changes it until the transaction
/// ends.
pub async fn lock(
    conn: &mut PgConnection,
    queue: QueueName,
    part: Part,
) -> Result<PauseAndCap, sqlx::Error> {
    let found = match part {
        Part::Whole => {
            sqlx::query_as!(
                PauseAndCap,
                r#"select null::integer as cap, paused_until > now() as "is_paused!",
                case when paused_until > now() then nullif(paused_until, 'infinity') end as paused_until
           from queue.queues
          where queue = $1
            for update"#,
                queue.as_str(),
            )
            .fetch_optional(conn)
            .await?
        }
        Part::Group(group) => {
            sqlx::query_as!(
                PauseAndCap,
                r#"select cap, coalesce(paused_until > now(), false) as "is_paused!",
                case when paused_until > now() then nullif(paused_until, 'infinity') end as paused_until
           from queue.groups
          where queue = $1 and grp = $2
            for update"#,
                queue.as_str(),
                group.0,
            )
            .fetch_optional(conn)
            .await?
        }
        Part::Lane(lane) => {
            sqlx::query_as!(
                PauseAndCap,
                r#"select cap, coalesce(paused_until > now(), false) as "is_paused!",
                case when paused_until > now() then nullif(paused_until, 'infinity') end as paused_until
           from queue.lanes
          where queue = $1 and lane = $2
            for update"#,
                queue.as_str(),
                lane.0,
            )
            .fetch_optional(conn)
            .await?
        }
    };
    Ok(found.unwrap_or_default())
}

/// Stops new claims from a part until a time of the database's clock; without a time, until
/// [`resume`]. A longer existing pause stays.
pub async fn pause(
    conn: &mut PgConnection,
    queue: QueueName,
    part: Part,
    until: Option<DateTime<Utc>>,
) -> Result<(), sqlx::Error> {
    match (part, until) {
        (Part::Whole, Some(until)) => queues::pause_until(conn, queue, until).await,
        (Part::Whole, None) => queues::pause(conn, queue, None).await,
        (Part::Group(group), Some(until)) => groups::pause_until(conn, queue, group, until).await,
        (Part::Group(group), None) => groups::pause(conn, queue, group, None).await,
        (Part::Lane(lane), Some(until)) => lanes::pause_until(conn, queue, lane, until).await,
        (Part::Lane(lane), None) => lanes::pause(conn, queue, lane, None).await,
    }
}

/// Ends the pause of a part, and returns whether there was one. Wake the queue after the commit;
/// otherwise its jobs wait for the poll.
pub async fn resume(
    conn: &mut PgConnection,
    queue: QueueName,
    part: Part,
) -> Result<bool, sqlx::Error> {
    match part {
        Part::Whole => queues::resume(conn, queue).await,
        Part::Group(group) => groups::resume(conn, queue, group).await,
        Part::Lane(lane) => lanes::resume(conn, queue, lane).await,
    }
}
