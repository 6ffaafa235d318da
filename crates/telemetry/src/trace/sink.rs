//! Where recorded spans go: to a bounded queue, which an exporter empties. What finds no room is
//! dropped and counted.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant, SystemTime},
};

use fair_share::{Limit, Share, Shares};
use metrics::{Unit, counter, describe_counter};
use tokio::sync::mpsc;

use super::{Kind, Step, Value};

static SINK: OnceLock<Sink> = OnceLock::new();

/// The most spans that wait for the exporter. One takes about half a kilobyte.
const WAITING: usize = 4_096;

/// A step that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The step.
    pub step: Step,
    /// Its name: one of a few.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// When it began.
    pub began: SystemTime,
    /// How long it took.
    pub took: Duration,
    /// Why it failed, if it did.
    pub error: Option<&'static str>,
    /// What else is known of it.
    pub attributes: Vec<(&'static str, Value)>,
    pub(crate) since: Instant,
}

/// Takes the spans of this process.
#[derive(Debug)]
pub struct Sink {
    spans: mpsc::Sender<(Ended, Share<[u8; 16]>)>,
    /// A team may have as many spans waiting as there is room left. So no team, whatever its
    /// requests say, has the spans of others dropped.
    room: Arc<Shares<[u8; 16]>>,
    /// The share of the traces that begin here and are recorded: 0 to 1.
    ratio: f64,
}

/// The other end: what an exporter empties.
#[derive(Debug)]
pub struct Spans(mpsc::Receiver<(Ended, Share<[u8; 16]>)>);

impl Sink {
    /// A sink that records this share of the traces that begin here, and its other end.
    pub fn new(ratio: f64) -> (Self, Spans) {
        let (sender, receiver) = mpsc::channel(WAITING);
        let sink = Self {
            spans: sender,
            room: Shares::new(WAITING),
            ratio,
        };
        (sink, Spans(receiver))
    }

    fn record(&self, ended: Ended) {
        let room = self.room.try_take(ended.step.team, 1, Limit::Fair);
        let sent = room.is_ok_and(|room| self.spans.try_send((ended, room)).is_ok());
        if !sent {
            dropped(Dropped::Full, 1);
        }
    }
}

impl Spans {
    /// Waits for spans, and moves up to `most` of them. None come after [`Spans::close`].
    pub async fn next(&mut self, most: usize) -> Vec<Ended> {
        let mut waiting = Vec::new();
        self.0.recv_many(&mut waiting, most).await;
        waiting.into_iter().map(|(ended, _)| ended).collect()
    }

    /// Takes no more. Those that wait can still be had.
    pub fn close(&mut self) {
        self.0.close();
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.0.len()
    }
}

const DROPPED: &str = "gatehouse_spans_dropped_total";

/// Why spans were dropped.
#[derive(Clone, Copy, Debug)]
pub enum Dropped {
    /// There was no room for them.
    Full,
    /// The collector did not take them.
    NotTaken,
}

/// Counts spans that nobody will see.
pub fn dropped(reason: Dropped, spans: u64) {
    let reason = match reason {
        Dropped::Full => "full",
        Dropped::NotTaken => "not_taken",
    };
    counter!(DROPPED, "reason" => reason).increment(spans);
}

/// Sends the spans of this process to this sink from now on.
pub fn install(sink: Sink) {
    describe_counter!(
        DROPPED,
        Unit::Count,
        "Spans that were not exported, because the queue was full or the collector did not take them"
    );
    // Set to 0 at the start. Otherwise Prometheus would not see the first increase.
    for reason in [Dropped::Full, Dropped::NotTaken] {
        dropped(reason, 0);
    }
    let _ = SINK.set(sink);
}

pub(crate) fn is_installed() -> bool {
    SINK.get().is_some()
}

pub(crate) fn record(ended: Ended) {
    if let Some(sink) = SINK.get() {
        sink.record(ended);
    }
}

/// Whether a trace that begins here is to be recorded.
pub(crate) fn is_sampled_by_chance() -> bool {
    SINK.get()
        .is_some_and(|sink| rand::random::<f64>() < sink.ratio)
}
