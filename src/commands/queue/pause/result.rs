//! The state of a target after the command.

use chrono::{DateTime, Utc};
use management::{
    Caller, Management, Refused,
    queues::{self, Pause, Updated},
};
use queue::queues::Restrictions;
use serde_json::Value;

use super::target::{Held, Target};
use crate::commands::queue::{
    status,
    table::{counted, thousands},
};

/// The jobs and the restrictions of the target.
pub(super) struct PauseResult {
    pub(super) now: DateTime<Utc>,
    pub(super) was_paused: bool,
    pub(super) queue: Restrictions,
    /// Of the group or the lane, or of the whole queue.
    pub(super) paused_until: Option<DateTime<Utc>>,
    pub(super) due: i64,
    pub(super) running: i64,
    pub(super) document: Value,
}

impl PauseResult {
    /// Changes the target.
    #[expect(clippy::option_option, reason = "absent and none are two things")]
    pub(super) async fn updating(
        management: &Management,
        target: Target,
        pause: Option<Pause>,
        cap: Option<Option<u32>>,
    ) -> Result<Self, Refused> {
        let caller = &Caller::command_line();
        let name = target.queue.as_str();
        let pause = || Ok(pause);
        Ok(match target.part.held() {
            Held::Queue => {
                let updated = queues::update_queue(management, caller, name, pause).await?;
                let (stats, restrictions) = (&updated.now.stats, &updated.now.restrictions);
                let document = status::queue_document(stats, restrictions);
                let until = restrictions.paused_until;
                let jobs = (stats.due, stats.running);
                Self::of(updated, until, jobs, document)
            }
            Held::Group(group) => {
                let updated =
                    queues::update_group(management, caller, name, group, pause, cap).await?;
                let document = status::group_document(&updated.now);
                let until = updated.now.paused_until;
                let jobs = (updated.now.due, updated.now.running);
                Self::of(updated, until, jobs, document)
            }
            Held::Lane(lane) => {
                let updated =
                    queues::update_lane(management, caller, name, lane, pause, cap).await?;
                let document = status::lane_document(&updated.now);
                let until = updated.now.paused_until;
                let jobs = (updated.now.due, updated.now.running);
                Self::of(updated, until, jobs, document)
            }
        })
    }

    fn of<T>(
        updated: Updated<T>,
        paused_until: Option<DateTime<Utc>>,
        (due, running): (i64, i64),
        document: Value,
    ) -> Self {
        Self {
            now: updated.at,
            was_paused: updated.was_paused,
            queue: updated.restrictions,
            paused_until,
            due,
            running,
            document,
        }
    }

    pub(super) fn load(&self) -> String {
        format!(
            "{} due, {} running.",
            counted(self.due, "job is", "jobs are"),
            thousands(self.running)
        )
    }
}
