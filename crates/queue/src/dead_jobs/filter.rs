//! Selects dead jobs.

use chrono::{DateTime, Utc};
use sqlx::{Postgres, QueryBuilder};

use crate::{DeathCause, Group as LaneGroup, JobId, Lane};

/// Selects dead jobs. A job must meet every given condition.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// With one of these ids.
    pub ids: Option<&'a [JobId]>,
    /// Of this queue.
    pub queue: Option<&'a str>,
    /// Of this group of lanes.
    pub group: Option<LaneGroup>,
    /// Of this lane.
    pub lane: Option<Lane>,
    /// Dead for this reason.
    pub cause: Option<DeathCause>,
    /// With this text in their error.
    pub error: Option<&'a str>,
    /// Dead after this.
    pub after: Option<Place>,
    /// Dead before this.
    pub before: Option<Place>,
}

/// A place in the order of death. Jobs moved together died at the same time; their ids tell them
/// apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// When.
    pub died_at: DateTime<Utc>,
    /// Which of them.
    pub id: JobId,
}

impl Filter<'_> {
    pub(super) fn push(&self, query: &mut QueryBuilder<Postgres>) {
        if let Some(ids) = self.ids {
            query.push(" and id = any (").push_bind(ids).push(")");
        }
        if let Some(queue) = self.queue {
            query.push(" and queue = ").push_bind(queue);
        }
        if let Some(group) = self.group {
            query.push(" and grp = ").push_bind(group);
        }
        if let Some(lane) = self.lane {
            query.push(" and lane = ").push_bind(lane);
        }
        if let Some(cause) = self.cause {
            query.push(" and cause = ").push_bind(cause.as_str());
        }
        if let Some(error) = self.error {
            query
                .push(" and strpos(error, ")
                .push_bind(error)
                .push(") > 0");
        }
        if let Some(after) = self.after {
            query.push(" and (died_at, id) > (");
            query.push_bind(after.died_at).push(", ");
            query.push_bind(after.id).push(")");
        }
        if let Some(before) = self.before {
            query.push(" and (died_at, id) < (");
            query.push_bind(before.died_at).push(", ");
            query.push_bind(before.id).push(")");
        }
    }
}
