//! How log lines look, and which are written.

use anyhow::bail;

use super::{invalid::invalid, variable};

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Human,
    /// For log collectors.
    Json,
}

/// `GATEHOUSE_LOG_FORMAT`, if it is set.
pub(crate) fn log_format() -> anyhow::Result<Option<LogFormat>> {
    match variable("GATEHOUSE_LOG_FORMAT")?.as_deref() {
        None => Ok(None),
        Some("human") => Ok(Some(LogFormat::Human)),
        Some("json") => Ok(Some(LogFormat::Json)),
        Some(other) => bail!(invalid!(
            "GATEHOUSE_LOG_FORMAT is {other:?}; it must be human or json"
        )),
    }
}

/// `GATEHOUSE_LOG`, a tracing filter such as `info` or `warn,gatehouse=debug`.
pub(crate) fn log_filter() -> anyhow::Result<Option<String>> {
    variable("GATEHOUSE_LOG")
}
