//! What is known of jobs in flight that ended.

use std::time::Duration;

use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::*;
use crate::{Group, Lane};

const ONE: QueueName = QueueName::new("one");
const OTHER: QueueName = QueueName::new("other");

fn in_flight(in_flight_jobs: &Arc<InFlightJobs>, id: i64, queue: QueueName) -> Arc<InFlightJob> {
    let run = Run {
        job: JobId(id),
        queue,
        group: Group(Uuid::nil()),
        lane: Lane(Uuid::nil()),
        attempt: 1,
        max_attempts: 5,
        waited: Duration::ZERO,
    };
    let claim = Claim {
        run,
        fence: 1,
        retry: Retry::default(),
    };
    InFlightJob::new(
        claim,
        Instant::now(),
        in_flight_jobs,
        TaskTracker::new().token(),
    )
    .unwrap()
}

#[tokio::test]
async fn the_job_that_ended_first_waits_longest_until_its_hold_is_gone() {
    let in_flight_jobs = Arc::<InFlightJobs>::default();
    let (first, second) = (
        in_flight(&in_flight_jobs, 1, ONE),
        in_flight(&in_flight_jobs, 2, ONE),
    );
    let running = in_flight(&in_flight_jobs, 3, OTHER);
    assert!(in_flight_jobs.oldest_ended().is_empty());

    first.end().await;
    let ended = in_flight_jobs.oldest_ended()[&ONE];
    assert!(second.try_end());
    // An ended job may be handed over in both ways.
    first.end().await;
    assert_eq!(in_flight_jobs.oldest_ended()[&ONE], ended);
    assert!(!in_flight_jobs.oldest_ended().contains_key(&OTHER));

    drop(first);
    assert!(in_flight_jobs.oldest_ended()[&ONE] > ended);
    drop((second, running));
    assert!(in_flight_jobs.oldest_ended().is_empty());
}
