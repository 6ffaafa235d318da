//! Spans, which say how long a step took and how it ended, and where they go: to a bounded queue,
//! which an exporter empties. What finds no room is dropped and counted.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant, SystemTime},
};

use fair_share::{Limit, Share, Shares};
use metrics::{Unit, counter, describe_counter};
use tokio::sync::mpsc;

use super::context::Step;

static SINK: OnceLock<Sink> = OnceLock::new();

/// The most spans that wait for the exporter. One takes about half a kilobyte.
const WAITING: usize = 4_096;

/// What kind of step it is, in the words of OpenTelemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A request that was answered.
    Server,
    /// A request that was sent.
    Client,
    /// A job that was run.
    Consumer,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A fixed word, or an id.
    Text(String),
    /// A number.
    Number(i64),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u16> for Value {
    fn from(number: u16) -> Self {
        Self::Number(number.into())
    }
}

/// A step that is recorded when this is dropped, if its trace is sampled and a collector wants it.
/// Otherwise it costs next to nothing.
#[derive(Debug)]
pub struct Span(Option<Ended>);

impl Span {
    /// A step that begins now.
    pub fn begin(step: Step, name: &'static str, kind: Kind) -> Self {
        Self::since(Instant::now(), step, name, kind)
    }

    /// A step that began at this time.
    pub fn since(began: Instant, step: Step, name: &'static str, kind: Kind) -> Self {
        let is_wanted = step.context.is_sampled() && SINK.get().is_some();
        Self(is_wanted.then(|| Ended {
            step,
            name,
            kind,
            began: SystemTime::now() - began.elapsed(),
            took: Duration::ZERO,
            error: None,
            attributes: Vec::new(),
            since: began,
        }))
    }

    /// Adds an attribute: an id, a number or a word of ours, never content, a key or an address.
    pub fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        if let Some(ended) = &mut self.0 {
            ended.attributes.push((name, value.into()));
        }
    }

    /// The same for a value that takes work to make.
    pub fn set_with<V: Into<Value>>(&mut self, name: &'static str, value: impl FnOnce() -> V) {
        if self.0.is_some() {
            self.set(name, value());
        }
    }

    /// It has failed, for a reason that is a word of ours.
    pub fn fail(&mut self, reason: &'static str) {
        if let Some(ended) = &mut self.0 {
            ended.error = Some(reason);
        }
    }

    /// Forgets it: nothing worth telling has happened.
    pub fn forget(mut self) {
        self.0 = None;
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if let (Some(mut ended), Some(sink)) = (self.0.take(), SINK.get()) {
            ended.took = ended.since.elapsed();
            sink.record(ended);
        }
    }
}

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
    since: Instant,
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

/// Whether a trace that begins here is to be recorded.
pub(super) fn is_sampled_by_chance() -> bool {
    SINK.get()
        .is_some_and(|sink| rand::random::<f64>() < sink.ratio)
}
