//! What a fake provider remembers between requests: how to answer, what it counted, and the tokens
//! of its limit.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::Mode;

pub(super) struct State {
    pub(super) mode: Mode,
    pub(super) connections: usize,
    pub(super) asked: usize,
    pub(super) answered: usize,
    /// The last request that could be read.
    pub(super) last: Value,
    bucket: Option<Bucket>,
}

/// Tokens of a limit by tokens per minute. They come back with time.
struct Bucket {
    tokens: f64,
    since: Instant,
}

impl State {
    pub(super) fn new(mode: Mode) -> Self {
        Self {
            mode,
            connections: 0,
            asked: 0,
            answered: 0,
            last: Value::Null,
            bucket: None,
        }
    }

    /// Takes a token for each four bytes of text. If there are too few, takes none and returns the
    /// time until there are enough.
    pub(super) fn take(&mut self, a_minute: u32, texts: &[String]) -> Result<(), Duration> {
        let most = f64::from(a_minute);
        let bucket = self.bucket.get_or_insert_with(|| Bucket {
            tokens: most,
            since: Instant::now(),
        });
        let came = bucket.since.elapsed().as_secs_f64() * most / 60.0;
        bucket.tokens = (bucket.tokens + came).min(most);
        bucket.since = Instant::now();
        let bytes: usize = texts.iter().map(String::len).sum();
        let needed = f64::from(u32::try_from(bytes).unwrap()) / 4.0;
        if needed <= bucket.tokens {
            bucket.tokens -= needed;
            return Ok(());
        }
        Err(Duration::from_secs_f64(
            (needed - bucket.tokens) * 60.0 / most,
        ))
    }
}
