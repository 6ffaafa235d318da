//! Routing: which way an item goes from its acceptance on.
//!
//! The short way: the item is stored with one job, and that job also tells of the acceptance. The
//! long way: the acceptance is told at once, with an event, its deliveries and their jobs. An item
//! takes the long way while its job would wait: when the job's queue is paused, when its team is
//! paused or has a cap in that queue, and when no live worker understands such a job.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use database::Trouble;
use domain::id::TeamId;
use queue::QueueName;
use sqlx::PgPool;
use telemetry::{failed, over};
use tokio::sync::watch;
use uuid::Uuid;

use crate::jobs;

/// How often to look for what holds jobs back.
const LOOK: Duration = Duration::from_secs(1);
/// A queue with more exceptions than this is not looked at one by one.
const EXCEPTIONS: usize = 10_000;

/// The queues whose items may take the short way, each with the teams whose items may not.
#[derive(Debug, Default)]
pub(super) struct Routing(HashMap<String, HashSet<Uuid>>);

impl Routing {
    /// Whether a team's item whose first job is of this queue takes the short way.
    pub(super) fn is_short(&self, first: QueueName, team: TeamId) -> bool {
        let held = self.0.get(first.as_str());
        held.is_some_and(|held| !held.contains(&team.as_uuid()))
    }
}

/// Looks again and again until nobody listens any more.
pub(super) async fn look(pool: PgPool, routing: watch::Sender<Arc<Routing>>) {
    let trouble = Trouble::in_turn();
    while !routing.is_closed() {
        let found = match read(&pool).await.map_err(database::counted) {
            Ok(found) => {
                over!(
                    trouble.worked(),
                    "the pauses and caps of queues are read again"
                );
                found
            }
            Err(error) => {
                failed!(
                    trouble.failed(&error),
                    %error,
                    "cannot read the pauses and caps of queues; media.created is sent at once"
                );
                Routing::default()
            }
        };
        routing.send_replace(Arc::new(found));
        tokio::time::sleep(LOOK).await;
    }
}

async fn read(pool: &PgPool) -> Result<Routing, sqlx::Error> {
    let queues = [jobs::ANALYSIS.as_str(), jobs::RULES.as_str()];
    let rows = sqlx::query!(
        r#"
        select
            q.queue as "queue!",
            array(
                select l.lane
                from queue.lanes l
                where l.queue = q.queue and (l.cap is not null or l.paused_until > now())
                union all
                select g.grp
                from queue.groups g
                where g.queue = q.queue and (g.cap is not null or g.paused_until > now())
                limit $2
            ) as "held!"
        from unnest($1::text []) as q (queue)
        where
            exists (select from item_workers w where q.queue = any(w.queues) and w.expires_at > now())
            and not exists (select from queue.queues p where p.queue = q.queue and p.paused_until > now())
        "#,
        &queues as &[&str],
        i64::try_from(EXCEPTIONS).unwrap_or(i64::MAX).saturating_add(1),
    )
    .fetch_all(pool)
    .await?;
    let few = rows.into_iter().filter(|row| row.held.len() <= EXCEPTIONS);
    let routing = few.map(|row| (row.queue, row.held.into_iter().collect()));
    Ok(Routing(routing.collect()))
}
