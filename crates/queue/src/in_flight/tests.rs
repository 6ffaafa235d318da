//! What holds say about jobs that ended.

use std::time::Duration;

use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::*;
use crate::{Group, JobId, Lane, QueueName, Retry};

const ONE: QueueName = QueueName::new("one");
const OTHER: QueueName = QueueName::new("other");

fn hold(holds: &Arc<Holds>, id: i64, queue: QueueName) -> Arc<Hold> {
    let claim = Claim {
        job: JobId(id),
        fence: 1,
        queue,
        group: Group(Uuid::nil()),
        lane: Lane(Uuid::nil()),
        attempt: 1,
        max_attempts: 5,
        waited: Duration::ZERO,
        retry: Retry::default(),
    };
    Hold::new(claim, Instant::now(), holds, TaskTracker::new().token()).unwrap()
}

#[tokio::test]
async fn the_job_that_ended_first_waits_longest_until_its_hold_is_gone() {
    let holds = Arc::<Holds>::default();
    let (first, second) = (hold(&holds, 1, ONE), hold(&holds, 2, ONE));
    let running = hold(&holds, 3, OTHER);
    assert!(holds.oldest_ended().is_empty());

    first.end().await;
    let ended = holds.oldest_ended()[&ONE];
    assert!(second.try_end());
    // An ended job may be handed over in both ways.
    first.end().await;
    assert_eq!(holds.oldest_ended()[&ONE], ended);
    assert!(!holds.oldest_ended().contains_key(&OTHER));

    drop(first);
    assert!(holds.oldest_ended()[&ONE] > ended);
    drop((second, running));
    assert!(holds.oldest_ended().is_empty());
}
