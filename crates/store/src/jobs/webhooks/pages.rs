//! Pages: deliveries of one endpoint that share a job.

use std::collections::HashMap;

use domain::id::{EndpointId, TeamId};
use queue::NewJobs;

use super::{TURNS, Turn, deliver};

/// Gathers the deliveries of a transaction into pages.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    /// In the order in which their first turns were pushed.
    pages: Vec<Page>,
    /// The page of each endpoint that the next turn goes into.
    open: HashMap<EndpointId, usize>,
}

#[derive(Debug)]
pub(super) struct Page {
    pub(super) team: TeamId,
    pub(super) endpoint: EndpointId,
    pub(super) turns: Vec<Turn>,
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
