//! What is told of a panic: where it happened, and what it said if that is a literal of the source.
//!
//! Rust would print every message. One that was put together may hold a secret or a customer's text: whoever cuts a text in
//! the middle of a character, for one, has all of it quoted.

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    panic::{self, PanicHookInfo},
    thread,
};

use tracing::error;

/// From now on panics are log lines.
pub(crate) fn log() {
    panic::set_hook(Box::new(tell));
}

fn tell(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string);
    let thread = thread::current();
    let said = panic.payload().downcast_ref::<&'static str>();
    let backtrace = Backtrace::capture();
    error!(
        place,
        thread = thread.name(),
        said,
        backtrace =
            (backtrace.status() == BacktraceStatus::Captured).then(|| backtrace.to_string()),
        "panicked"
    );
}

#[cfg(test)]
mod tests;
