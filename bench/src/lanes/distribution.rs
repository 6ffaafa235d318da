//! How the waiting jobs are spread over lanes.

use std::{collections::HashSet, time::Duration};

use clap::ValueEnum;
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{driver::QUEUE, lane::lane};

/// A million jobs and their lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Scene {
    /// 10,000 lanes of 100 jobs each
    #[value(name = "ten-thousand")]
    TenThousand,
    /// 100,000 lanes of 10 jobs each
    #[value(name = "hundred-thousand")]
    HundredThousand,
    /// One lane of 500,000 beside 1,000 of 100 each
    Giant,
    /// 10,000 lanes of 100 jobs each, of which 500 are paused and 500 capped at 2
    Exceptions,
}

const CAP: u32 = 2;
const A_DAY: Duration = Duration::from_hours(24);

impl Scene {
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::TenThousand => "10,000 lanes of 100 jobs",
            Self::HundredThousand => "100,000 lanes of 10 jobs",
            Self::Giant => "a lane of 500,000 jobs beside 1,000 lanes of 100",
            Self::Exceptions => "10,000 lanes of 100 jobs, 500 paused, 500 capped at 2",
        }
    }

    /// How many lanes there are.
    pub(super) const fn lanes(self, divisor: u64) -> u64 {
        match self {
            Self::TenThousand | Self::Exceptions => 10_000 / divisor,
            Self::HundredThousand => 100_000 / divisor,
            Self::Giant => 1_000 / divisor + 1,
        }
    }

    /// How many jobs the smallest lane has.
    pub(super) const fn smallest(self) -> usize {
        match self {
            Self::TenThousand | Self::Giant | Self::Exceptions => 100,
            Self::HundredThousand => 10,
        }
    }

    /// The lane of each job, in random order like real customers' jobs.
    pub(super) fn jobs(self, divisor: u64) -> Vec<u64> {
        let lanes = self.lanes(divisor);
        match self {
            Self::TenThousand | Self::Exceptions => (0..100 * lanes).map(|n| n % lanes).collect(),
            Self::HundredThousand => (0..10 * lanes).map(|n| n % lanes).collect(),
            // Lane 0 is the large one, with five of six jobs.
            Self::Giant => {
                let small = lanes - 1;
                (0..600 * small)
                    .map(|n| if n % 6 == 0 { 1 + n / 6 % small } else { 0 })
                    .collect()
            }
        }
    }

    /// Pauses and caps.
    pub(super) async fn set_exceptions(
        self,
        conn: &mut PgConnection,
        divisor: u64,
    ) -> anyhow::Result<()> {
        for number in self.paused(divisor) {
            queue::lanes::pause(conn, QUEUE, lane(number), A_DAY).await?;
            let capped = lane(number + 1);
            queue::lanes::set_cap(conn, QUEUE, capped, Some(CAP)).await?;
        }
        Ok(())
    }

    /// The lanes that may be claimed from.
    pub(super) fn open(self, divisor: u64) -> HashSet<Uuid> {
        let paused: HashSet<u64> = self.paused(divisor).collect();
        let all = 0..self.lanes(divisor);
        all.filter(|number| !paused.contains(number))
            .map(|number| lane(number).0)
            .collect()
    }

    fn paused(self, divisor: u64) -> impl Iterator<Item = u64> {
        let count = match self {
            Self::TenThousand | Self::HundredThousand | Self::Giant => 0,
            Self::Exceptions => 500 / divisor,
        };
        (0..count).map(|n| 2 * n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scenes_are_as_large_as_they_say() {
        let count = |scene: Scene, lane| {
            let jobs = scene.jobs(1);
            jobs.iter().filter(|&&own| own == lane).count()
        };
        assert_eq!(Scene::TenThousand.jobs(1).len(), 1_000_000);
        for scene in [Scene::TenThousand, Scene::HundredThousand, Scene::Giant] {
            let last = scene.lanes(1) - 1;
            assert_eq!(count(scene, last), scene.smallest(), "{scene:?}");
        }
        assert_eq!(count(Scene::Giant, 0), 500_000);
        assert_eq!(Scene::Exceptions.open(1).len(), 9_500);
    }
}
