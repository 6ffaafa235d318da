//! What can be seen of the jobs in the tables, and what the model expects there.

use sqlx::PgPool;
use uuid::Uuid;

use super::state::{Job, Row, State};
use crate::JobId;

/// What can be seen of a job.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Seen {
    row: Row,
    /// Present while there is a row.
    attempt: Option<i16>,
    /// Present while there is a row in `queue.jobs`.
    fence: Option<i32>,
    effects: Vec<i32>,
    obituaries: i64,
}

/// What the model expects to see of the jobs.
pub(super) fn expected(state: &State) -> Vec<Seen> {
    let seen = |job: &Job| Seen {
        row: match job.row {
            Row::Replayed => Row::Finished,
            row => row,
        },
        attempt: (job.row.is_in_jobs() || job.row == Row::Buried).then_some(job.attempt.into()),
        fence: job.row.is_in_jobs().then_some(number(job.claims.len())),
        effects: job.effects.iter().map(|&step| number(step)).collect(),
        obituaries: job.obituaries.into(),
    };
    state.jobs.iter().map(seen).collect()
}

pub(super) fn number(small: usize) -> i32 {
    i32::try_from(small).unwrap()
}

#[derive(sqlx::FromRow)]
struct Found {
    state: Option<i16>,
    has_come: Option<bool>,
    locked_by: Option<Uuid>,
    fence: Option<i32>,
    attempt: Option<i16>,
    is_dead: bool,
    effects: Vec<i32>,
    obituaries: i64,
}

/// What the tables hold of the jobs.
pub(super) async fn look(pool: &PgPool, jobs: &[JobId], workers: &[Uuid]) -> Vec<Seen> {
    let found: Vec<Found> = sqlx::query_as(
        "select j.state, j.run_at <= now() as has_come, j.locked_by, j.fence,
                coalesce(j.attempt, d.attempt) as attempt, d.id is not null as is_dead,
                array(select e.step from effects e where e.job = i.id order by e.place) as effects,
                (select count(*) from obituaries o where o.job = i.id) as obituaries
           from unnest($1::bigint[]) with ordinality i (id, place)
           left join queue.jobs j on j.id = i.id
           left join queue.dead_jobs d on d.id = i.id
          order by i.place",
    )
    .bind(jobs)
    .fetch_all(pool)
    .await
    .unwrap();
    let worker = |id: Option<Uuid>| {
        let mut workers = workers.iter();
        workers.position(|&worker| Some(worker) == id).unwrap()
    };
    let seen = |found: Found| Seen {
        row: match (found.state, found.is_dead) {
            (None, false) => Row::Finished,
            (None, true) => Row::Buried,
            (Some(0), false) => Row::Due,
            (Some(1), false) => Row::Running(worker(found.locked_by)),
            // The next claim promotes it.
            (Some(2), false) if found.has_come == Some(true) => Row::Due,
            (Some(2), false) => Row::Scheduled,
            (Some(3), false) => Row::Doomed,
            (state, is_dead) => panic!("state {state:?}, and dead: {is_dead}"),
        },
        attempt: found.attempt,
        fence: found.fence,
        effects: found.effects,
        obituaries: found.obituaries,
    };
    found.into_iter().map(seen).collect()
}
