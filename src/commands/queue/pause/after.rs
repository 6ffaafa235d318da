//! The state of a target after the command.

use chrono::{DateTime, Utc};
use queue::{
    groups, lanes,
    queues::{self, Restrictions},
    stats::{self, QueueStats},
};
use serde_json::Value;
use sqlx::PgConnection;

use super::target::{Held, Target};
use crate::commands::queue::{
    status,
    table::{counted, thousands},
};

/// The jobs and the restrictions of the target.
pub(super) struct After {
    pub(super) now: DateTime<Utc>,
    pub(super) queue: Restrictions,
    /// Of the group or the lane, or of the whole queue.
    pub(super) paused_until: Option<DateTime<Utc>>,
    pub(super) due: i64,
    pub(super) running: i64,
    pub(super) document: Value,
}

impl After {
    pub(super) async fn read(conn: &mut PgConnection, target: Target) -> anyhow::Result<Self> {
        let now = queue::now(conn).await?;
        let name = target.queue.as_str();
        let mut restrictions = queues::restrictions(conn).await?.into_iter();
        let queue = restrictions
            .find(|restrictions| restrictions.queue == name)
            .unwrap_or_default();
        match target.part.held() {
            Held::Group(group) => {
                let group = groups::read(conn, target.queue, group).await?;
                return Ok(Self {
                    now,
                    queue,
                    paused_until: group.paused_until,
                    due: group.due,
                    running: group.running,
                    document: status::group_document(&group),
                });
            }
            Held::Lane(lane) => {
                let lane = lanes::read(conn, target.queue, lane).await?;
                return Ok(Self {
                    now,
                    queue,
                    paused_until: lane.paused_until,
                    due: lane.due,
                    running: lane.running,
                    document: status::lane_document(&lane),
                });
            }
            Held::Queue => {}
        }
        let mut stats = stats::read(conn, &store::jobs::LANE_CAPS, &[])
            .await?
            .into_iter();
        let stats = stats
            .find(|stats| stats.queue == name)
            .unwrap_or_else(|| QueueStats {
                queue: name.to_owned(),
                ..QueueStats::default()
            });
        Ok(Self {
            now,
            paused_until: queue.paused_until,
            due: stats.due,
            running: stats.running,
            document: status::queue_document(&stats, &queue),
            queue,
        })
    }

    pub(super) fn load(&self) -> String {
        format!(
            "{} due, {} running.",
            counted(self.due, "job is", "jobs are"),
            thousands(self.running)
        )
    }
}
