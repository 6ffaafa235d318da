//! What is logged about a panic: its place, and its message if that is a literal in the source.
//!
//! Rust would print every message. A message with values can contain a secret or a customer's text.
//! For example, the message about cutting a text inside a character quotes the text.

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    panic::{self, PanicHookInfo},
    thread,
};

use tracing::error;

/// From now on, panics are written to the log.
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
