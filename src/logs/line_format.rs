//! Log lines with the trace that the running task works for, as the field `trace.id`.

use std::fmt;

use tracing::{Event, Subscriber};
use tracing_subscriber::{
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::{Format, Full, Json, Writer},
    },
    registry::LookupSpan,
};

/// How people get the trace.
pub(super) struct Human(pub(super) Format<Full>);
/// How log collectors get the trace: as a member of the line's object.
pub(super) struct Machine(pub(super) Format<Json>);

impl<S, N> FormatEvent<S, N> for Human
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some(step) = telemetry::trace::current() else {
            return self.0.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.0
            .format_event(context, Writer::new(&mut line), event)?;
        let trace = step.context.trace();
        writeln!(writer, "{} trace.id={trace}", line.trim_end_matches('\n'))
    }
}

impl<S, N> FormatEvent<S, N> for Machine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some(step) = telemetry::trace::current() else {
            return self.0.format_event(context, writer, event);
        };
        let mut line = String::new();
        self.0
            .format_event(context, Writer::new(&mut line), event)?;
        match line.trim_end().strip_suffix('}') {
            Some(open) => {
                let trace = step.context.trace();
                writeln!(writer, "{open},\"trace.id\":\"{trace}\"}}")
            }
            None => writer.write_str(&line),
        }
    }
}
