//! Which archives can be read at once: one of each team, and a few in all. A member is in memory while it is sent.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use domain::id::TeamId;

use crate::Refused;

/// Archives that are read at once in a process.
const AT_ONCE: usize = 4;

/// In how many seconds to try again.
const SOON: u32 = 5;

/// The teams whose archives are being read.
#[derive(Clone, Debug, Default)]
pub struct ConcurrentReads(Arc<Mutex<HashSet<TeamId>>>);

/// An archive that is being read. It ends when this is dropped.
pub(super) struct Turn {
    of: ConcurrentReads,
    team: TeamId,
}

impl ConcurrentReads {
    /// A turn of this team.
    ///
    /// # Errors
    /// The team reads an archive, or too many others do.
    pub(super) fn take(&self, team: TeamId) -> Result<Turn, Refused> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if running.len() >= AT_ONCE || !running.insert(team) {
            return Err(Refused::TooManyDownloads { seconds: SOON });
        }
        Ok(Turn {
            of: self.clone(),
            team,
        })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut running = self.of.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.remove(&self.team);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_team_reads_one_archive_at_a_time_and_all_together_a_few() {
        let streams = ConcurrentReads::default();
        let team = |n| TeamId::from(Uuid::from_u128(n));
        let first = streams.take(team(0)).unwrap();
        assert!(streams.take(team(0)).is_err());
        let others: Vec<_> = (1..20).filter_map(|n| streams.take(team(n)).ok()).collect();
        assert_eq!(others.len(), AT_ONCE - 1);
        drop(first);
        assert!(streams.take(team(1)).is_err());
        assert!(streams.take(team(0)).is_ok());
    }
}
