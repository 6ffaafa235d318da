//! The settings that are measured together, and the arithmetic about them.

use std::{fmt, str::FromStr, time::Duration};

use anyhow::{Context as _, ensure};
use serde::Serialize;

/// Settings, and the teams that have a backlog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Row {
    pub(super) workers: u32,
    /// `--concurrency` of each worker.
    pub(super) concurrency: u32,
    /// `concurrency` of the provider, for each worker.
    pub(super) provider_concurrency: u32,
    pub(super) teams: u32,
}

impl FromStr for Row {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let numbers: Result<Vec<u32>, _> = text.split('/').map(str::parse).collect();
        let numbers = <[u32; 4]>::try_from(numbers?);
        let numbers = numbers.ok().context("a row has four numbers: 1/64/32/1")?;
        ensure!(!numbers.contains(&0), "no number of a row may be 0");
        let [workers, concurrency, provider_concurrency, teams] = numbers;
        Ok(Self {
            workers,
            concurrency,
            provider_concurrency,
            teams,
        })
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            workers,
            concurrency,
            provider_concurrency,
            teams,
        } = self;
        let worker = if *workers == 1 { "worker" } else { "workers" };
        let team = if *teams == 1 { "team" } else { "teams" };
        write!(
            f,
            "{workers} {worker}, --concurrency {concurrency}, {provider_concurrency} of the provider, {teams} {team}"
        )
    }
}

impl Row {
    /// The slots of a worker that run while all teams have a backlog. A team stops when it has as
    /// many as remain free, and the one with the fewest comes next.
    fn slots_that_run(self) -> u32 {
        let mut own = vec![0; self.teams as usize];
        let mut free = self.concurrency;
        while let Some(fewest) = own.iter_mut().min()
            && *fewest < free
        {
            *fewest += 1;
            free -= 1;
        }
        self.concurrency - free
    }

    /// How many requests the provider should get at once, of all workers together.
    pub(super) fn requests_at_once(self) -> u32 {
        self.workers * self.slots_that_run().min(self.provider_concurrency)
    }

    /// How many items should get a verdict in a second at most, if the provider takes this long.
    pub(super) fn most_a_second(self, answers_after: Duration) -> f64 {
        f64::from(self.requests_at_once()) / answers_after.as_secs_f64()
    }

    /// Slots of all workers.
    pub(super) fn slots(self) -> u32 {
        self.workers * self.concurrency
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> Row {
        text.parse().unwrap()
    }

    #[test]
    fn a_row_has_four_numbers_from_one() {
        let expected = Row {
            workers: 2,
            concurrency: 64,
            provider_concurrency: 32,
            teams: 1,
        };
        assert_eq!(row("2/64/32/1"), expected);
        for wrong in ["", "2/64/32", "2/64/32/1/1", "2/0/32/1", "two/64/32/1"] {
            assert!(wrong.parse::<Row>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_team_has_half_of_the_slots_and_as_many_teams_as_slots_have_all() {
        for (slots, teams, expected) in [
            (64, 1, 32),
            (60, 2, 40),
            (64, 2, 43),
            (64, 16, 61),
            (64, 64, 64),
            (64, 1_000, 64),
            (1, 1, 1),
        ] {
            let row = row(&format!("1/{slots}/1000/{teams}"));
            assert_eq!(row.slots_that_run(), expected, "{row}");
        }
    }

    #[test]
    fn the_provider_gets_what_slots_and_its_own_limit_allow() {
        let answers_after = Duration::from_millis(400);
        for (text, at_once, a_second) in [
            ("1/64/32/1", 32, 80.0),
            ("2/64/32/1", 64, 160.0),
            ("1/128/32/1", 32, 80.0),
            ("1/64/64/1", 32, 80.0),
            ("1/128/64/1", 64, 160.0),
            ("1/64/64/64", 64, 160.0),
        ] {
            let row = row(text);
            assert_eq!(row.requests_at_once(), at_once, "{row}");
            assert!((row.most_a_second(answers_after) - a_second).abs() < 1e-9);
        }
    }
}
