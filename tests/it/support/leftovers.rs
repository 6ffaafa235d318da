//! Jobs that a test leaves in the queue of a running service.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use sqlx::{Connection as _, PgConnection};

/// The time that jobs get to end, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// The jobs of a database. Dropping this waits until all of them have ended, and fails the test if
/// one is left or dead. Put it first into a struct that also owns the process, because fields are
/// dropped in their order.
pub(super) struct Leftovers {
    database: String,
    are_expected: AtomicBool,
}

impl Leftovers {
    pub(super) fn new(database: String) -> Self {
        Self {
            database,
            are_expected: AtomicBool::new(false),
        }
    }

    /// From now on, the test may leave jobs.
    pub(super) fn expect(&self) {
        self.are_expected.store(true, Relaxed);
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        if self.are_expected.load(Relaxed) || std::thread::panicking() {
            return;
        }
        let database = self.database.clone();
        // This thread may run the test's runtime, and one runtime cannot start another.
        let left = std::thread::spawn(move || left(&database)).join();
        let left = left.expect("the queue can be read");
        assert!(
            left.is_empty(),
            "the test leaves jobs (queue, state, number): {left:?}. If it should, call `leaves_jobs()` and say why"
        );
    }
}

/// The jobs that are left: queue, state and number. It waits while some of them can still end in
/// time.
#[tokio::main(flavor = "current_thread")]
async fn left(database: &str) -> Vec<(String, String, i64)> {
    let deadline = Instant::now() + PATIENCE;
    let mut conn = PgConnection::connect(database).await.unwrap();
    loop {
        let rest = deadline.saturating_duration_since(Instant::now());
        let left: Vec<(String, String, i64, bool)> = sqlx::query_as(
            "select queue, (array['due', 'running', 'scheduled', 'doomed'])[state + 1], count(*),
                 bool_or(state <> 2 or run_at < now() + $1 * interval '1 s')
               from queue.jobs group by queue, state
              union all
             select queue, 'dead', count(*), false from queue.dead_jobs group by queue",
        )
        .bind(rest.as_secs_f64())
        .fetch_all(&mut conn)
        .await
        .unwrap();
        let can_end = left.iter().any(|(.., can_end)| *can_end);
        if !can_end || rest.is_zero() {
            let left = left.into_iter();
            return left
                .map(|(queue, state, number, _)| (queue, state, number))
                .collect();
        }
        tokio::time::sleep(super::POLL).await;
    }
}
