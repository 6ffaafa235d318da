//! The jobs of [`WEBHOOKS`](super::WEBHOOKS): what they carry, and how many deliveries become few of them.
//!
//! A job is a *page*: up to [`TURNS`] *turns*, all for one endpoint. A turn is the deliveries of one item, in the order in which the
//! endpoint should get them. Claiming and finishing a job costs more than a delivery, so a page saves most of that.
//!
//! A delivery that has not ended is in exactly one job. Whoever takes a delivery out of a page puts it into another job in the
//! same transaction.

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
    /// What is to be sent.
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
    /// Adds the deliveries of one item to an endpoint of a team, in the order in which they should arrive.
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
mod tests {
    use uuid::Uuid;

    use super::*;

    fn delivery(n: u128) -> DeliveryId {
        Uuid::from_u128(n).into()
    }

    fn team(n: u128) -> TeamId {
        Uuid::from_u128(n).into()
    }

    fn endpoint(n: u128) -> EndpointId {
        Uuid::from_u128(n).into()
    }

    fn decoded(jobs: &NewJobs) -> Vec<DeliveryJob> {
        let payloads = jobs.columns().unwrap().payloads;
        let decode = |payload: &String| serde_json::from_str(payload).unwrap();
        payloads.iter().map(decode).collect()
    }

    #[test]
    fn case_61_payloads_of_older_binaries_are_read() {
        let id = Uuid::from_u128(7);
        let job: DeliveryJob = serde_json::from_str(&format!(r#"{{"delivery":"{id}"}}"#)).unwrap();
        assert_eq!((job.single(), job.team), (Some(delivery(7)), None));
    }

    #[test]
    fn case_61_older_binaries_read_a_single_delivery() {
        #[derive(Deserialize)]
        struct Older {
            delivery: DeliveryId,
        }
        let mut jobs = NewJobs::new();
        jobs.push(deliver(vec![vec![delivery(7)]], endpoint(1), team(2)));
        let columns = jobs.columns().unwrap();
        let older: Older = serde_json::from_str(&columns.payloads[0]).unwrap();
        assert_eq!((older.delivery, columns.formats[0]), (delivery(7), 0));
        assert_eq!(decoded(&jobs)[0].team, Some(team(2)));
    }

    #[test]
    fn a_page_survives_being_stored() {
        let turns = vec![vec![delivery(1), delivery(2)], vec![delivery(3)]];
        for turns in [turns.clone(), turns[..1].to_vec(), Vec::new()] {
            let mut jobs = NewJobs::new();
            jobs.push(deliver(turns.clone(), endpoint(1), team(2)));
            assert_eq!(jobs.columns().unwrap().formats, [1]);
            assert_eq!(decoded(&jobs)[0].turns, turns);
        }
    }

    #[test]
    fn pages_are_of_one_endpoint_keep_the_order_and_have_32_turns_at_most() {
        let mut pages = Pages::default();
        for n in 0..70 {
            pages.push(
                team(1),
                endpoint(1),
                vec![delivery(2 * n), delivery(2 * n + 1)],
            );
            if n % 10 == 0 {
                pages.push(team(2), endpoint(2), vec![delivery(1_000 + n)]);
            }
        }
        let mut jobs = NewJobs::new();
        pages.add_to(&mut jobs);
        let lanes = jobs.columns().unwrap().lanes.to_vec();
        let pages = decoded(&jobs);
        let of = |n| {
            let lane = endpoint(n).as_uuid();
            let pages = pages.iter().zip(&lanes).filter(move |(_, of)| **of == lane);
            pages.map(|(page, _)| page).collect::<Vec<_>>()
        };
        let sizes: Vec<usize> = of(1).iter().map(|page| page.turns.len()).collect();
        assert_eq!(sizes, [32, 32, 6]);
        let first = of(1)
            .iter()
            .flat_map(|page| page.turns.concat())
            .collect::<Vec<_>>();
        assert_eq!(first, (0..140).map(delivery).collect::<Vec<_>>());
        assert_eq!(of(2).len(), 1);
        assert_eq!(of(2)[0].turns.len(), 7);
        let mut columns = jobs.columns().unwrap().groups.iter();
        assert!(columns.any(|group| *group == team(2).as_uuid()));
    }

    #[test]
    fn a_payload_that_is_none_is_refused() {
        for payload in ["{}", r#"{"turns":7}"#, "[]"] {
            assert!(
                serde_json::from_str::<DeliveryJob>(payload).is_err(),
                "{payload}"
            );
        }
    }
}
