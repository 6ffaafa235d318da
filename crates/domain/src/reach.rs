//! Which teams somebody may act in.

use crate::id::TeamId;

/// Which teams somebody may act in. For the caller, other teams do not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Operators act in all teams.
    Everything,
    /// Everybody else acts in one.
    Team(TeamId),
}

impl Reach {
    /// The only team within reach; none for operators.
    pub const fn team(self) -> Option<TeamId> {
        match self {
            Self::Everything => None,
            Self::Team(team) => Some(team),
        }
    }

    /// Whether this team is within reach.
    pub fn covers(self, team: TeamId) -> bool {
        self.team().is_none_or(|only| only == team)
    }
}

impl From<Option<TeamId>> for Reach {
    /// Of a token that names its team, or none if it is an operator's.
    fn from(team: Option<TeamId>) -> Self {
        team.map_or(Self::Everything, Self::Team)
    }
}
