//! Traces: what connects a submission, the jobs of its item, and the webhooks about it.
//!
//! A [`Context`] names a trace and one step of it, in the form of the W3C's Trace Context. A task
//! that works for a trace has it as its [`current`] one, so that every log line can name it. A
//! [`Span`] tells a collector of a step, if there is a collector and the trace is sampled.

mod context;
mod current;
mod sink;

pub use context::{Context, SpanId, Step, TraceId};
pub use current::{Current, adopt, current, enter};
pub use sink::{Dropped, Ended, Kind, Sink, Span, Spans, Value, dropped, install};
