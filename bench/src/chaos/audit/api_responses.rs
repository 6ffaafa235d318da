//! The interface must return what is stored.

use domain::media::Status;
use serde::Deserialize;
use uuid::Uuid;

use super::Audit;
use crate::http::{self, Client};

/// How many items the interface is asked about.
const SAMPLE: usize = 1_000;

impl Audit<'_> {
    /// Asks the interface about a sample, evenly spread, at each API process by turns.
    pub(super) async fn interface(&mut self) -> anyhow::Result<()> {
        #[derive(Deserialize)]
        struct Answer {
            media_id: Uuid,
            status: Status,
        }

        let mut clients: Vec<Client> = self
            .customers
            .apis
            .iter()
            .copied()
            .map(Client::new)
            .collect();
        let step = self.ledger.accepted.len().div_ceil(SAMPLE).max(1);
        let mut wrong = Vec::new();
        for (turn, (id, submission)) in self.ledger.accepted.iter().step_by(step).enumerate() {
            let key = &self.customers.sites[self.customers.site(submission.number)].key;
            let place = turn % clients.len();
            let answer = clients[place]
                .send(&http::status_query(key, *id))
                .await
                .map_err(std::io::Error::from)?;
            let told: Option<Answer> = serde_json::from_slice(&answer.body).ok();
            let told = told
                .filter(|told| answer.status == 200 && told.media_id == *id)
                .map(|told| told.status);
            if told.is_none() || told != self.stored.get(id).map(|item| item.status) {
                wrong.push(format!("{id} (answer {})", answer.status));
            }
        }
        self.expect("the interface tells what is stored (sample)", wrong);
        Ok(())
    }
}
