//! The effect of a slice: its deliveries become pending or are created, and get their jobs.

use domain::recovery::RecoveryKind;
use queue::{Effect, FinishTx, Survivor};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Slice;
use crate::{
    chain::{self, End, Step},
    delivery::MOST_ATTEMPTS,
    jobs::{self, Pages},
    recovery::Recovery,
};

impl Effect for Slice {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        for Survivor { effect: slice, .. } in batch {
            if !slice.advance(tx.conn).await? {
                continue;
            }
            let mut sent = slice.send(tx.conn).await?;
            // Ids begin with the time of their event: what an endpoint should get first comes
            // first.
            sent.sort_unstable();
            slice.count(tx.conn, sent.len()).await?;
            let mut pages = Pages::default();
            for delivery in sent {
                pages.push(slice.team, slice.endpoint, vec![delivery.into()]);
            }
            pages.add_to(&mut tx.jobs);
            if slice.end == End::Open {
                tx.jobs.push(jobs::recover(slice.recovery, slice.team));
            }
        }
        Ok(())
    }
}

impl Slice {
    /// False: the recovery was stopped, or is not where the slice begins.
    async fn advance(&self, conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
        let step = Step {
            from: self.from,
            to: self.to,
            end: self.end,
        };
        chain::advance::<Recovery>(conn, self.recovery.as_uuid(), step).await
    }

    /// Makes deliveries pending that have not changed in the meantime, and returns them.
    async fn send(&self, conn: &mut PgConnection) -> Result<Vec<Uuid>, sqlx::Error> {
        let deliveries: Vec<Uuid> = self.wanted.iter().map(|w| w.delivery.as_uuid()).collect();
        let states: &[&str] = match self.kind {
            RecoveryKind::Failed => &["exhausted", "discarded"],
            RecoveryKind::Delivered => &["delivered"],
            RecoveryKind::Missing => return self.create(conn, &deliveries).await,
        };
        sqlx::query_scalar!(
            "
            with ended as materialized (
                select id
                from deliveries
                where id = any($1) and state = any($2) and attempts < $3
                order by id
                for no key update
            )
            update deliveries d
            set state = 'pending', earlier_attempts = d.attempts, next_attempt_at = now(), ended_at = null
            from ended
            where d.id = ended.id
            returning d.id
            ",
            &deliveries,
            states as &[&str],
            MOST_ATTEMPTS,
        )
        .fetch_all(conn)
        .await
    }

    /// Creates missing deliveries of events that still exist, and returns them.
    async fn create(
        &self,
        conn: &mut PgConnection,
        deliveries: &[Uuid],
    ) -> Result<Vec<Uuid>, sqlx::Error> {
        let events: Vec<Uuid> = self.wanted.iter().map(|w| w.event.as_uuid()).collect();
        sqlx::query_scalar!(
            "
            with kept as materialized (
                select id from events where id = any($2) order by id for key share
            )
            insert into deliveries (id, event_id, endpoint_id)
            select w.id, w.event_id, $3
            from unnest($1::uuid [], $2::uuid []) as w (id, event_id)
            join kept on kept.id = w.event_id
            on conflict (id) do nothing
            returning id
            ",
            deliveries,
            &events,
            self.endpoint.as_uuid(),
        )
        .fetch_all(conn)
        .await
    }

    async fn count(&self, conn: &mut PgConnection, sent: usize) -> Result<(), sqlx::Error> {
        sqlx::query!(
            "update webhook_recoveries set looked_at = looked_at + $2, resent = resent + $3 where id = $1",
            self.recovery.as_uuid(),
            self.looked_at,
            i64::try_from(sent).unwrap_or(i64::MAX),
        )
        .execute(conn)
        .await?;
        Ok(())
    }
}
