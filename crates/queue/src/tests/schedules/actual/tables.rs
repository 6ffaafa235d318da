//! The statements that write to the tables.

use std::{slice, time::Instant};

use super::{Actual, InHand};
use crate::{
    JobId,
    complete::complete,
    dead_letter, heartbeat,
    preclaimed::Enqueued,
    tests::schedules::{
        configuration::Protocol,
        process::Process,
        state::{Hand, State},
        work::settings,
    },
};

impl Actual {
    /// Promotes due jobs, as any claim would: new jobs come after them.
    pub(super) async fn promote(&self) {
        sqlx::query("update queue.jobs set state = 0 where state = 2 and run_at <= now()")
            .execute(&self.pool)
            .await
            .unwrap();
    }

    /// Gives a worker its lease.
    pub(super) async fn start(&self, worker: usize) {
        self.processes[worker]
            .queue
            .shared()
            .lease
            .renew(Instant::now());
        sqlx::query(
            "insert into queue.workers (id, expires_at) values ($1, now() + interval '1 hour')
             on conflict (id) do update set expires_at = excluded.expires_at",
        )
        .bind(self.processes[worker].queue.worker_id())
        .execute(&self.pool)
        .await
        .unwrap();
    }

    /// Ends a lease: a live worker's lease expires, a dead worker's row is removed.
    pub(super) async fn end_lease(&self, worker: usize, is_alive: bool) {
        let id = self.processes[worker].queue.worker_id();
        self.processes[worker].queue.shared().lease.lapse();
        if is_alive {
            sqlx::query("update queue.workers set expires_at = now() where id = $1")
                .bind(id)
                .execute(&self.pool)
                .await
                .unwrap();
        } else {
            heartbeat::surrender(&mut *self.conn().await, id)
                .await
                .unwrap();
        }
    }

    /// Writes an outcome with its effect, in one transaction. Only what the model calls ours may
    /// survive.
    pub(super) async fn write(
        &mut self,
        protocol: Protocol,
        state: &State,
        hand: Hand,
    ) -> Result<(bool, Enqueued), String> {
        let Some(InHand::Ended(ended)) = self.hands.remove(&hand) else {
            unreachable!("it has ended");
        };
        let Process {
            queue, connection, ..
        } = self.process(state, hand);
        let written = complete(queue.shared(), connection, slice::from_ref(&ended))
            .await
            .unwrap();
        let claimed = (ended.in_flight.run.job, ended.in_flight.fence());
        self.hands.insert(hand, InHand::Ended(ended));
        let survives = written.survivors.contains(&claimed);
        if survives == protocol.is_ours(state, hand) {
            Ok((survives, written.follow_ups))
        } else {
            Err(format!("whether {hand:?} survives: {survives}"))
        }
    }

    /// Tries to move a doomed job while the effect of its death cannot be written.
    pub(super) async fn fail_to_move_doomed(&self) {
        let execute = async |ddl: &'static str| sqlx::query(ddl).execute(&self.pool).await.unwrap();
        execute("alter table obituaries add constraint silence check (false) not valid").await;
        let mover = self.processes[0].queue.shared();
        let failed = dead_letter::move_doomed(mover, &settings(), 100)
            .await
            .is_err();
        execute("alter table obituaries drop constraint silence").await;
        assert!(failed, "it had nothing to bury");
    }

    /// Looks up the ids of new jobs.
    pub(super) async fn find_new_jobs(&mut self) {
        let new: Vec<JobId> =
            sqlx::query_scalar("select id from queue.jobs where id <> all ($1) order by id")
                .bind(&self.jobs)
                .fetch_all(&self.pool)
                .await
                .unwrap();
        self.jobs.extend(new);
    }
}
