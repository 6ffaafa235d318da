//! Keeps every value of the two histograms of the queue that `endurance` asks for, so that percentiles are exact. All
//! other metrics go nowhere.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use metrics::{Counter, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, SharedString, Unit};
use queue::metrics::JOB_WAIT;

/// How long each claim took, seen from the process; by `queue`.
const CLAIM_SECONDS: &str = "gatehouse_queue_claim_seconds";

#[derive(Debug, Default)]
pub(super) struct Recorder {
    claims: Arc<Values>,
    waits: Arc<Values>,
}

impl Recorder {
    /// Makes it the process's recorder.
    pub(super) fn install() -> anyhow::Result<Arc<Self>> {
        let recorder = Arc::new(Self::default());
        metrics::set_global_recorder(recorder.clone())
            .ok()
            .context("a process has one recorder")?;
        Ok(recorder)
    }

    pub(super) fn take_claims(&self) -> Vec<u64> {
        self.claims.take()
    }

    pub(super) fn take_waits(&self) -> Vec<u64> {
        self.waits.take()
    }
}

/// Microseconds.
#[derive(Debug, Default)]
struct Values(Mutex<Vec<u64>>);

impl Values {
    fn take(&self) -> Vec<u64> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl HistogramFn for Values {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "durations are positive and short"
    )]
    fn record(&self, seconds: f64) {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        values.push((seconds * 1e6) as u64);
    }
}

impl metrics::Recorder for Recorder {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        match key.name() {
            CLAIM_SECONDS => Histogram::from_arc(self.claims.clone()),
            JOB_WAIT => Histogram::from_arc(self.waits.clone()),
            _ => Histogram::noop(),
        }
    }
}
