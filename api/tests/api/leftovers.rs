//! What a test leaves in the queue. Nobody works here, so jobs stay where they were put. What was accepted explains some of them:
//! an item has one job of its own, and a delivery at most one. A test that leaves other jobs says of which queues. Any further
//! job, and any dead one, is a mistake.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use queue::QueueName;
use sqlx::{Connection as _, PgConnection, PgPool, postgres::PgConnectOptions};

/// The queues in which jobs may be left.
#[derive(Debug, Default)]
pub(crate) struct Leftovers(Mutex<BTreeSet<&'static str>>);

/// Jobs that no item and no delivery explains: the queue, how many, and what they are.
type Unexplained = (String, i64, String);

impl Leftovers {
    /// Jobs of this queue may be left.
    pub(crate) fn allow(&self, queue: QueueName) {
        let mut allowed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        allowed.insert(queue.as_str());
    }

    /// Fails if there are other jobs, or dead ones. For `Drop`: it blocks, and it needs no runtime.
    ///
    /// # Panics
    /// When it fails.
    pub(crate) fn check(&self, pool: &PgPool) {
        let options = (*pool.connect_options()).clone();
        // This thread may be running the runtime of the test.
        let left = std::thread::spawn(move || left(&options)).join();
        let mut left = left.expect("the queue can be read");
        let allowed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        left.retain(|(queue, _, what)| what == "dead" || !allowed.contains(queue.as_str()));
        assert!(
            left.is_empty(),
            "the test leaves jobs: {left:?}; if it should, say so with `app.leaves(queue)`"
        );
    }
}

#[tokio::main(flavor = "current_thread")]
async fn left(options: &PgConnectOptions) -> Vec<Unexplained> {
    let mut conn = PgConnection::connect_with(options).await.unwrap();
    sqlx::query_as(
        "select queue, count(*), 'left' from queue.jobs
          where queue not in ('images', 'analysis', 'rules', 'webhooks')
          group by queue
          union all
         select 'images, analysis, rules', count(*), 'more than items' from queue.jobs
          where queue in ('images', 'analysis', 'rules')
         having count(*) > (select count(*) from media)
          union all
         select 'webhooks', count(*), 'more than deliveries' from queue.jobs
          where queue = 'webhooks'
         having count(*) > (select count(*) from deliveries)
          union all
         select queue, count(*), 'dead' from queue.dead_jobs group by queue",
    )
    .fetch_all(&mut conn)
    .await
    .unwrap()
}
