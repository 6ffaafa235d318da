//! The figures about the whole database: the two processes that publish the depth of the queues
//! publish them, too. In the others, and when a figure cannot be read any more, there is none.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem::take,
    time::Duration,
};

use database::Trouble;
use metrics::gauge;
use queue::Queue;
use store::{
    Error, PgConnection, PgPool,
    database_metrics::{self, Blind, Endpoints, Visibility},
};
use telemetry::{failed, over};
use tokio::time::{sleep, timeout};
use tracing::warn;

use crate::service::Wants;

/// How often they are read.
const EVERY: Duration = Duration::from_secs(15);
/// How often a process looks whether it is one of the two.
const LOOK: Duration = Duration::from_secs(1);
/// How long all of them may take together.
const PATIENCE: Duration = Duration::from_secs(20);

const OLDEST_TRANSACTION: &str = "gatehouse_oldest_transaction_seconds";
const WAL_FILES: &str = "gatehouse_wal_files_bytes";
/// What Postgres tells about itself.
const SERVER: [&str; 8] = [
    OLDEST_TRANSACTION,
    "gatehouse_database_bytes",
    "gatehouse_wal_bytes_total",
    WAL_FILES,
    "gatehouse_wal_target_bytes",
    "gatehouse_wal_slot_bytes",
    "gatehouse_wal_archive_failing",
    "gatehouse_wal_archive_failures_total",
];
/// What waits for somebody.
const CONNECTIONS: [&str; 3] = [
    "gatehouse_db_connections_allowed",
    "gatehouse_db_connections_used",
    "gatehouse_db_connections_wanted",
];
const WORK: [&str; 4] = [
    "gatehouse_reviews_waiting",
    "gatehouse_review_age_seconds",
    "gatehouse_reviews_overdue",
    "gatehouse_audit_unsealed_seconds",
];
const DEAD_TUPLES: &str = "gatehouse_dead_tuples";
const ENDPOINTS: &str = "gatehouse_webhook_endpoints";
const STATES: [&str; 4] = ["working", "failing", "open", "disabled"];

/// Publishes for ever.
pub(crate) async fn publish(pool: PgPool, queue: Queue) {
    let mut publisher = Publisher::new();
    loop {
        if queue.reports() {
            publisher.round(&pool).await;
        } else {
            publisher.retire();
        }
        let pause = if publisher.shows { EVERY } else { LOOK };
        sleep(pause).await;
    }
}

/// What a process shows.
struct Publisher {
    conn: Option<PgConnection>,
    shows: bool,
    /// The tables whose dead rows are shown.
    tables: BTreeSet<String>,
    /// What the role cannot see, as it was logged last.
    blind: Vec<Blind>,
    trouble: Trouble,
}

impl Publisher {
    fn new() -> Self {
        Self {
            conn: None,
            shows: false,
            tables: BTreeSet::new(),
            blind: Vec::new(),
            trouble: Trouble::in_turn(),
        }
    }

    /// Reads all figures and shows them.
    async fn round(&mut self, pool: &PgPool) {
        self.shows = true;
        let round = async {
            let mut conn = match self.conn.take() {
                Some(conn) => conn,
                None => database_metrics::connect(pool).await?,
            };
            let read = read(&mut conn).await;
            Ok::<_, Error>((conn, read))
        };
        let problem = match timeout(PATIENCE, round).await {
            Ok(Ok((conn, read))) => {
                self.show_tables(read.tables);
                self.tell_blind(read.blind);
                let is_usable = !read.problem.as_ref().is_some_and(Error::is_outage);
                if is_usable && !database::connection_shortage::is_scarce() {
                    self.conn = Some(conn);
                }
                read.problem
            }
            Ok(Err(error)) => {
                self.show_nothing();
                Some(error)
            }
            Err(_) => {
                self.show_nothing();
                Some(Error::late(PATIENCE))
            }
        };
        match problem {
            None => over!(
                self.trouble.worked(),
                "all figures about the database are read again"
            ),
            Some(error) => failed!(
                self.trouble.failed(&error),
                %error,
                "cannot read all figures about the database; trying again"
            ),
        }
    }

    /// Others publish from now on.
    fn retire(&mut self) {
        if self.shows {
            self.show_nothing();
            let blind = take(&mut self.blind);
            *self = Self {
                blind,
                ..Self::new()
            };
        }
    }

    /// Logs once what the role cannot see: there is no figure of it, and no alert sees it.
    fn tell_blind(&mut self, blind: Option<Vec<Blind>>) {
        let Some(blind) = blind else {
            return;
        };
        for new in blind.iter().filter(|new| !self.blind.contains(new)) {
            warn!("{}", hidden(new));
        }
        self.blind = blind;
    }

    fn show_nothing(&mut self) {
        for name in SERVER.into_iter().chain(CONNECTIONS).chain(WORK) {
            gauge!(name).set(f64::NAN);
        }
        show_endpoints([f64::NAN; STATES.len()]);
        self.show_tables(BTreeMap::new());
    }

    fn show_tables(&mut self, dead: BTreeMap<String, f64>) {
        for gone in self
            .tables
            .iter()
            .filter(|table| !dead.contains_key(*table))
        {
            gauge!(DEAD_TUPLES, "table" => gone.clone()).set(f64::NAN);
        }
        for (table, tuples) in &dead {
            gauge!(DEAD_TUPLES, "table" => table.clone()).set(*tuples);
        }
        self.tables = dead.into_keys().collect();
    }
}

/// The result of a reading.
#[derive(Default)]
struct Read {
    /// Dead rows, by table.
    tables: BTreeMap<String, f64>,
    /// What the role cannot see, if that is known.
    blind: Option<Vec<Blind>>,
    /// Why a figure could not be read.
    problem: Option<Error>,
}

impl Read {
    /// The figure, if there is one.
    fn take<T>(&mut self, figure: Result<T, Error>) -> Option<T> {
        figure
            .map_err(|error| self.problem.get_or_insert(error))
            .ok()
    }
}

/// Reads all figures and shows those that have one value. One that cannot be read keeps no other
/// from being shown: a role may be allowed to read some only.
async fn read(conn: &mut PgConnection) -> Read {
    let mut read = Read::default();
    let visibility = read.take(database_metrics::visibility(conn).await);
    if let Some(visibility) = &visibility {
        show_server(conn, visibility, &mut read).await;
        read.blind = Some(visibility.blind());
    } else {
        show(SERVER, [None; SERVER.len()]);
    }
    let wants = read.take(Wants::ask(conn).await);
    show(
        CONNECTIONS,
        [
            wants.map(|wants| float(wants.room.allowed)),
            wants.map(|wants| float(wants.room.used)),
            wants.map(|wants| float(wants.wanted)),
        ],
    );
    let reviews = read.take(database_metrics::reviews(conn).await);
    let waiting = reviews.map(|reviews| float(reviews.waiting));
    let oldest = reviews.map(|reviews| reviews.oldest_seconds);
    let overdue = reviews.map(|reviews| float(reviews.overdue));
    let unsealed = read
        .take(database_metrics::oldest_unsealed(conn).await)
        .flatten();
    show(WORK, [waiting, oldest, overdue, unsealed]);
    let endpoints = read.take(database_metrics::endpoints(conn).await);
    show_endpoints(endpoints.map_or([f64::NAN; STATES.len()], |endpoints| {
        let Endpoints {
            working,
            failing,
            open,
            disabled,
        } = endpoints;
        [working, failing, open, disabled].map(float)
    }));
    if let Some(visibility) = &visibility {
        let dead = read.take(database_metrics::dead_tuples(conn, visibility).await);
        let dead = dead.into_iter().flatten();
        read.tables = dead.map(|dead| (dead.table, float(dead.tuples))).collect();
    }
    read
}

/// Reads and shows what Postgres tells about itself.
async fn show_server(conn: &mut PgConnection, visibility: &Visibility, read: &mut Read) {
    let transaction = read.take(database_metrics::oldest_transaction(conn, visibility).await);
    let bytes = read
        .take(database_metrics::database_bytes(conn).await)
        .map(float);
    let written = read.take(database_metrics::wal_bytes(conn).await);
    let files = read.take(database_metrics::wal_files(conn, visibility).await);
    let kept = read.take(database_metrics::wal_kept(conn).await);
    let archiving = read
        .take(database_metrics::archiving(conn, visibility).await)
        .flatten();
    let values = [
        transaction.flatten(),
        bytes,
        written,
        files.flatten(),
        kept.map(|kept| kept.target),
        kept.map(|kept| kept.by_slots),
        archiving.map(|archiving| f64::from(u8::from(archiving.is_failing))),
        archiving.map(|archiving| archiving.failures),
    ];
    show(SERVER, values);
}

fn show<const N: usize>(names: [&'static str; N], values: [Option<f64>; N]) {
    for (name, value) in names.into_iter().zip(values) {
        gauge!(name).set(value.unwrap_or(f64::NAN));
    }
}

/// One sentence about a metric that is absent because the role cannot see what it is about.
pub(crate) fn hidden(blind: &Blind) -> String {
    let (metric, why) = match blind {
        Blind::Transactions(why) => (OLDEST_TRANSACTION, why),
        Blind::DeadTuples(why) => (DEAD_TUPLES, why),
        Blind::WalFiles(why) => (WAL_FILES, why),
    };
    format!("the metric {metric} is absent: {why}")
}

fn show_endpoints(endpoints: [f64; STATES.len()]) {
    for (state, endpoints) in STATES.into_iter().zip(endpoints) {
        gauge!(ENDPOINTS, "state" => state).set(endpoints);
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a gauge is a float; no number here nears 2^53"
)]
fn float(number: i64) -> f64 {
    number as f64
}
