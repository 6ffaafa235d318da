//! Counts the SQL statements of the process, and measures how long callers wait for a connection of
//! a pool.
//!
//! sqlx reports both as events: one for each statement that it has sent, when its last row was read
//! or its answer was given up, and one for each connection that a pool gave out. The statements
//! within a batch (`raw_sql`) count as one, `begin` and `commit` count, preparing a statement does
//! not. Events about slow statements and slow pools are the same events at a higher level.

use metrics::{counter, histogram};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    Layer,
    filter::{Filtered, Targets},
    layer::Context,
};

const STATEMENTS: &str = "gatehouse_sql_statements_total";
const ACQUIRE: &str = "gatehouse_db_acquire_seconds";

/// The targets of sqlx's events begin with this.
const SQLX: &str = "sqlx";
/// The rest of the target for statements.
const STATEMENT: &str = "::query";
/// The rest of the target for connections that a pool gave out.
const ACQUIRED: &str = "::pool::acquire";
/// The field with the time until then.
const ACQUIRED_AFTER: &str = "acquired_after_secs";

/// Listens to sqlx, whatever is logged.
pub(crate) struct Statements;

impl Statements {
    pub(crate) fn layer<S: Subscriber>() -> Filtered<Self, Targets, S> {
        Self.with_filter(Targets::new().with_target(SQLX, Level::DEBUG))
    }
}

impl<S: Subscriber> Layer<S> for Statements {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        match event.metadata().target().strip_prefix(SQLX) {
            Some(STATEMENT) => counter!(STATEMENTS).increment(1),
            Some(ACQUIRED) => event.record(&mut Wait),
            _ => {}
        }
    }
}

/// Records the time that an event has.
struct Wait;

impl Visit for Wait {
    fn record_f64(&mut self, field: &Field, seconds: f64) {
        if field.name() == ACQUIRED_AFTER {
            histogram!(ACQUIRE).record(seconds);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

/// Shows them as 0.
pub(super) fn expect_none() {
    counter!(STATEMENTS).increment(0);
    let _registered = histogram!(ACQUIRE);
}
