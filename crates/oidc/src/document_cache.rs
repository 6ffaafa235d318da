//! One document of the provider that is kept for a while. Callers who need it at the same time share one request.

use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use crate::Failed;

/// How long a document is used before it is read again.
const KEPT: Duration = Duration::from_hours(1);
/// How long nobody asks again after a failure.
const REST: Duration = Duration::from_secs(5);
/// How long a document is at least used, even if something is missing in it.
const LEAST: Duration = Duration::from_mins(1);

/// The document, and when it was asked for.
#[derive(Debug)]
pub(crate) struct DocumentCache<T>(Mutex<State<T>>);

#[derive(Debug)]
struct State<T> {
    read: Option<(T, Instant)>,
    failed_at: Option<Instant>,
}

impl<T: Clone> DocumentCache<T> {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(State {
            read: None,
            failed_at: None,
        }))
    }

    /// The document. It is read if there is none, or if it is old, or if `is_enough` misses something in it; for the last
    /// reason, at most once a minute.
    pub(crate) async fn get(
        &self,
        now: Instant,
        is_enough: impl Fn(&T) -> bool,
        read: impl AsyncFnOnce() -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        let mut state = self.0.lock().await;
        if let Some((document, at)) = &state.read {
            let age = now.saturating_duration_since(*at);
            if age < LEAST || age < KEPT && is_enough(document) {
                return Ok(document.clone());
            }
        }
        if state
            .failed_at
            .is_some_and(|at| now.saturating_duration_since(at) < REST)
        {
            return Err(Failed::Resting);
        }
        match read().await {
            Ok(document) => {
                *state = State {
                    read: Some((document.clone(), now)),
                    failed_at: None,
                };
                Ok(document)
            }
            Err(failed) => {
                state.failed_at = Some(now);
                Err(failed)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn what_is_missing_is_looked_for_once_a_minute_and_all_is_read_again_after_an_hour() {
        let (cached, reads, start) = (DocumentCache::new(), AtomicU32::new(0), Instant::now());
        let get = async |after: Duration, least: u32| {
            let read = async || Ok(reads.fetch_add(1, Ordering::Relaxed) + 1);
            let is_enough = |document: &u32| *document >= least;
            cached.get(start + after, is_enough, read).await.unwrap()
        };
        let second = Duration::from_secs(1);
        assert_eq!(get(Duration::ZERO, 1).await, 1);
        for _ in 0..100 {
            assert_eq!(
                get(LEAST.saturating_sub(second), 2).await,
                1,
                "within the minute"
            );
        }
        assert_eq!(get(LEAST, 1).await, 1, "it is enough");
        assert_eq!(get(LEAST, 2).await, 2);
        assert_eq!(get((LEAST + KEPT).saturating_sub(second), 2).await, 2);
        assert_eq!(get(LEAST + KEPT, 0).await, 3);
    }

    #[tokio::test]
    async fn after_a_failure_nobody_asks_for_a_moment() {
        let (cached, asked, start) = (
            DocumentCache::<u32>::new(),
            AtomicU32::new(0),
            Instant::now(),
        );
        let get = async |after: Duration| {
            let read = async || {
                asked.fetch_add(1, Ordering::Relaxed);
                Err(Failed::TimedOut)
            };
            cached.get(start + after, |_| true, read).await
        };
        assert!(matches!(get(Duration::ZERO).await, Err(Failed::TimedOut)));
        let later = get(REST.saturating_sub(Duration::from_millis(1))).await;
        assert!(matches!(later, Err(Failed::Resting)));
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert!(matches!(get(REST).await, Err(Failed::TimedOut)));
    }
}
