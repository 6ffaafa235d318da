//! What the reports of the desk are calculated from: what people said, what waits, what the machine had found, and what things
//! are called.

mod machine_findings;
mod names;
mod opinions;
mod thresholds;
mod waiting;

use chrono::{DateTime, Utc};
use domain::id::{SiteId, TeamId};

pub use self::{
    machine_findings::{Compared, Matches, compared, matches},
    names::{PolicyName, named_people, named_policies, named_sites},
    opinions::{First, Opinion, opinions},
    thresholds::{ThresholdRule, left_out, thresholds},
    waiting::{Backlog, backlog},
};

/// What a report is about.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The team.
    pub team: TeamId,
    /// Only this site. None: all sites of the team.
    pub site: Option<SiteId>,
    /// From this time on.
    pub from: DateTime<Utc>,
    /// Before this time.
    pub to: DateTime<Utc>,
}
