//! Answers that wait for the verdict (`Prefer: wait`).

use std::time::Duration;

use domain::{
    id::{MediaId, TeamId},
    key::SecretHash,
    media::{Status, StatusVocabulary},
};
use store::{
    item_status::Answer,
    verdict_waiters::{Ended, Expected},
};
use tokio::time::{Instant, timeout_at};

use super::{super::Public, Verdict};

/// The pauses between two looks at an item that an earlier request had stored, the first and the longest.
const FIRST_LOOK: Duration = Duration::from_millis(50);
const LAST_LOOK: Duration = Duration::from_secs(2);

/// A place to wait in, if the client wants one and one is free.
pub(super) fn expect(
    public: &Public,
    team: TeamId,
    media: MediaId,
    wait: Option<(Duration, StatusVocabulary)>,
) -> Option<Waiting> {
    let (wait, vocabulary) = wait?;
    let Ok(expected) = public.awaited.expect(team, media) else {
        Ended::Refused.record(Duration::ZERO);
        return None;
    };
    Some(Waiting {
        expected,
        wait,
        vocabulary,
    })
}

/// A place to wait in.
pub(super) struct Waiting {
    expected: Expected,
    /// How long, at most.
    pub(super) wait: Duration,
    /// How the site wants the status spelled.
    vocabulary: StatusVocabulary,
}

impl Waiting {
    /// Waits until the item is decided, but not longer than the client wants. `is_known` if the item may be decided already. None:
    /// there is no verdict, or the database is away. The item is stored anyway.
    pub(super) async fn verdict(
        self,
        public: &Public,
        key: SecretHash,
        media: MediaId,
        is_known: bool,
    ) -> Option<Verdict> {
        let begun = Instant::now();
        let end = begun + self.wait;
        let mut look = is_known;
        // If the request that stored the item did not wait, nobody tells of its verdict.
        let mut pause = is_known.then_some(FIRST_LOOK);
        loop {
            if look && let Some(verdict) = decided(public, key, media).await {
                Ended::Decided.record(begun.elapsed());
                return Some(verdict);
            }
            let until = pause.map_or(end, |pause| end.min(Instant::now() + pause));
            match timeout_at(until, self.expected.woken()).await {
                Ok(Some(verdict)) => {
                    if let Some(verdict) = Verdict::given(media, self.vocabulary, verdict) {
                        Ended::Decided.record(begun.elapsed());
                        return Some(verdict);
                    }
                }
                Err(_) if Instant::now() >= end => break,
                Ok(None) | Err(_) => {}
            }
            look = true;
            pause = pause.map(|pause| LAST_LOOK.min(2 * pause));
        }
        // A notification can get lost.
        let verdict = decided(public, key, media).await;
        let ended = if verdict.is_some() {
            Ended::Unnoticed
        } else {
            Ended::Over
        };
        ended.record(begun.elapsed());
        verdict
    }
}

async fn decided(public: &Public, key: SecretHash, media: MediaId) -> Option<Verdict> {
    match public.statuses.find(key, media).await {
        Ok(Some(Answer::Media(status))) if status.status != Status::Pending => {
            Some(Verdict::from(&*status))
        }
        Ok(_) | Err(_) => None,
    }
}
