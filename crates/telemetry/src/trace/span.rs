//! Spans: how long a step took, and how it ended.

use std::time::{Duration, Instant, SystemTime};

use super::{Ended, Step, sink};

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
        let is_wanted = step.context.is_sampled() && sink::is_installed();
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
        if let Some(mut ended) = self.0.take() {
            ended.took = ended.since.elapsed();
            sink::record(ended);
        }
    }
}
