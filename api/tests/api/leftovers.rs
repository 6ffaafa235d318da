//! What a test leaves in the queue. Nobody works here, so jobs stay where they were put. A test that leaves jobs says of which
//! queues; any other job, and any dead one, is a mistake.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use queue::QueueName;
use sqlx::{Connection as _, PgConnection, PgPool, postgres::PgConnectOptions};
use store::jobs;

/// The queues in which jobs may be left.
#[derive(Debug, Default)]
pub(crate) struct Leftovers(Mutex<BTreeSet<&'static str>>);

impl Leftovers {
    /// Jobs of this queue may be left.
    pub(crate) fn allow(&self, queue: QueueName) {
        let mut allowed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        allowed.insert(queue.as_str());
    }

    /// An item was accepted: its next step and its event wait for somebody who works.
    pub(crate) fn allow_an_item(&self) {
        for queue in [jobs::IMAGES, jobs::ANALYSIS, jobs::RULES, jobs::WEBHOOKS] {
            self.allow(queue);
        }
    }

    /// Fails if there is any other job, or a dead one. For `Drop`: it blocks, and it needs no runtime.
    ///
    /// # Panics
    /// When it fails.
    pub(crate) fn check(&self, pool: &PgPool) {
        let options = (*pool.connect_options()).clone();
        // This thread may be running the runtime of the test.
        let left = std::thread::spawn(|| left(options)).join();
        let left = left.expect("the queue can be read");
        let allowed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let unexpected: Vec<_> = left
            .into_iter()
            .filter(|(queue, _, is_dead)| *is_dead || !allowed.contains(queue.as_str()))
            .collect();
        assert!(
            unexpected.is_empty(),
            "the test leaves jobs (queue, how many, whether dead): {unexpected:?}; if it should, say so with `app.leaves(queue)`"
        );
    }
}

#[tokio::main(flavor = "current_thread")]
async fn left(options: PgConnectOptions) -> Vec<(String, i64, bool)> {
    let mut conn = PgConnection::connect_with(&options).await.unwrap();
    sqlx::query_as(
        "select queue, count(*), false from queue.jobs group by queue
          union all
         select queue, count(*), true from queue.dead_jobs group by queue",
    )
    .fetch_all(&mut conn)
    .await
    .unwrap()
}
