//! Promised items must be stored, and judged as the rules demand.

use std::collections::HashSet;

use super::Audit;
use crate::chaos::client::Submission;

impl Audit<'_> {
    pub(super) fn promises(&mut self) {
        let Self { ledger, stored, .. } = &*self;
        let broken = ledger.accepted.iter().filter(|(id, submission)| {
            stored
                .get(id)
                .is_none_or(|item| item.submission.as_ref() != Some(submission))
        });
        let broken: Vec<String> = broken.map(|(id, _)| id.to_string()).collect();

        let mut known: HashSet<&Submission> = ledger
            .unknown
            .iter()
            .chain(ledger.accepted.values())
            .collect();
        // Each submission may be stored once, so it is taken out when it is found.
        let invented = stored.iter().filter(|(_, item)| {
            !item
                .submission
                .as_ref()
                .is_some_and(|own| known.remove(own))
        });
        let invented: Vec<String> = invented.map(|(id, _)| id.to_string()).collect();
        self.expect("every accepted item is stored", broken);
        self.expect("every stored item was submitted once", invented);
    }

    pub(super) fn verdicts(&mut self) {
        let wrong = self.stored.iter().filter_map(|(id, item)| {
            let number = item.submission.as_ref()?.number;
            let expected = self.customers.text(number).expected?;
            (item.status != expected)
                .then(|| format!("{id} (text {number}) is {}, not {expected}", item.status))
        });
        let wrong: Vec<String> = wrong.collect();
        self.expect("verdicts are what the rules demand", wrong);
    }
}
