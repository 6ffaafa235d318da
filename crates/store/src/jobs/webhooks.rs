//! The jobs of [`WEBHOOKS`](super::WEBHOOKS): their payload, and how many deliveries share one job.
//!
//! A job is a *page*: up to [`TURNS`] *turns*, all for one endpoint. A turn is the deliveries of
//! one item, in the order in which the endpoint should get them. Claiming and finishing a job costs
//! more than a delivery, so a page saves most of that.
//!
//! A delivery that has not ended is in exactly one job. Code that takes a delivery out of a page
//! puts it into another job in the same transaction.

use std::collections::HashMap;

use domain::id::{DeliveryId, EndpointId, TeamId};
use queue::{Group, Lane, NewJob, NewJobs};
use serde::{Deserialize, Serialize};

use super::WEBHOOKS;

/// The most turns of a page.
pub const TURNS: usize = 32;

/// A delivery counts its own attempts and ends before this; the rest is room for workers that die.
const ATTEMPTS: u16 = 40;

/// Deliveries of one item to one endpoint, in the order in which they should arrive.
pub type Turn = Vec<DeliveryId>;

/// The payload of [`WEBHOOKS`](super::WEBHOOKS).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Stored")]
pub struct DeliveryJob {
    /// The endpoint's team. Jobs of older binaries do not name it.
    pub team: Option<TeamId>,
    /// The deliveries to send.
    pub turns: Vec<Turn>,
}

/// The payload as JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    /// Format 0: older binaries can send it, too.
    Single {
        delivery: DeliveryId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        team: Option<TeamId>,
    },
    /// Format 1.
    Page { team: TeamId, turns: Vec<Turn> },
}

impl DeliveryJob {
    /// The only delivery, if there is no other.
    pub fn single(&self) -> Option<DeliveryId> {
        single(&self.turns)
    }
}

fn single(turns: &[Turn]) -> Option<DeliveryId> {
    match turns {
        [turn] => match turn.as_slice() {
            [delivery] => Some(*delivery),
            _ => None,
        },
        _ => None,
    }
}

impl Stored {
    fn of(turns: Vec<Turn>, team: TeamId) -> Self {
        match single(&turns) {
            Some(delivery) => Self::Single {
                delivery,
                team: Some(team),
            },
            None => Self::Page { team, turns },
        }
    }

    const fn format(&self) -> i16 {
        match self {
            Self::Single { .. } => 0,
            Self::Page { .. } => 1,
        }
    }
}

impl From<Stored> for DeliveryJob {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::Single { delivery, team } => Self {
                team,
                turns: vec![vec![delivery]],
            },
            Stored::Page { team, turns } => Self {
                team: Some(team),
                turns,
            },
        }
    }
}

/// Send these to an endpoint of a team. No more than [`TURNS`] turns.
pub(crate) fn deliver(turns: Vec<Turn>, endpoint: EndpointId, team: TeamId) -> NewJob {
    let stored = Stored::of(turns, team);
    NewJob::new(WEBHOOKS, Lane(endpoint.as_uuid()), &stored)
        .group(Group(team.as_uuid()))
        .format(stored.format())
        .max_attempts(ATTEMPTS)
}

/// Gathers the deliveries of a transaction into pages.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    /// In the order in which their first turns were pushed.
    pages: Vec<Page>,
    /// The page of each endpoint that the next turn goes into.
    open: HashMap<EndpointId, usize>,
}

#[derive(Debug)]
struct Page {
    team: TeamId,
    endpoint: EndpointId,
    turns: Vec<Turn>,
}

impl Pages {
    /// Adds the deliveries of one item to an endpoint of a team, in the order in which they should
    /// arrive.
    pub(crate) fn push(&mut self, team: TeamId, endpoint: EndpointId, turn: Turn) {
        let open = self.open.get(&endpoint).copied();
        if let Some(page) = open.and_then(|number| self.pages.get_mut(number))
            && page.turns.len() < TURNS
        {
            page.turns.push(turn);
            return;
        }
        self.open.insert(endpoint, self.pages.len());
        self.pages.push(Page {
            team,
            endpoint,
            turns: vec![turn],
        });
    }

    /// Adds the jobs that send them.
    pub(crate) fn add_to(self, jobs: &mut NewJobs) {
        for Page {
            team,
            endpoint,
            turns,
        } in self.pages
        {
            jobs.push(deliver(turns, endpoint, team));
        }
    }
}

#[cfg(test)]
mod tests;
