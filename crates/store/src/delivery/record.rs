//! Records attempts: logs them, moves their deliveries, and updates the health of their endpoints.

mod write;

use domain::webhook::KEPT_ANSWERS;
use sqlx::PgConnection;
use uuid::Uuid;

pub(super) use self::write::write;
use super::{Attempted, DeliveryState};
use crate::endpoint::{
    self,
    health::{self, Sign},
};

/// Records what runs did for deliveries.
pub(super) async fn record(
    conn: &mut PgConnection,
    runs: &[&Attempted],
) -> Result<(), sqlx::Error> {
    if runs.is_empty() {
        return Ok(());
    }
    write(conn, runs).await?;
    forget_older_answers(conn, runs).await?;
    let signs: Vec<Sign> = runs.iter().filter_map(|run| run.sign()).collect();
    health::learn(conn, &signs).await?;
    let gone: Vec<_> = runs.iter().filter_map(|run| run.disable).collect();
    endpoint::disable(conn, &gone).await
}

impl Attempted {
    fn sign(&self) -> Option<Sign> {
        let (endpoint, right) = self.attempt.as_ref()?.sign?;
        Some(Sign {
            endpoint,
            right,
            succeeded: self.state == DeliveryState::Delivered,
        })
    }
}

/// Forgets the answers to all but the last attempts of these deliveries. The attempts themselves
/// stay.
async fn forget_older_answers(
    conn: &mut PgConnection,
    runs: &[&Attempted],
) -> Result<(), sqlx::Error> {
    let (deliveries, older): (Vec<Uuid>, Vec<i16>) = runs
        .iter()
        .filter_map(|run| {
            let older = run.attempt.as_ref()?.number.checked_sub(KEPT_ANSWERS)?;
            (older > 0).then(|| (run.delivery.as_uuid(), small(older)))
        })
        .unzip();
    if deliveries.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "
        update delivery_attempts a
        set response_body = null
        from unnest($1::uuid [], $2::smallint []) as o (delivery_id, number)
        where a.delivery_id = o.delivery_id and a.number <= o.number and a.response_body is not null
        ",
        &deliveries,
        &older,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Attempt numbers and HTTP statuses fit a `smallint`.
fn small(number: u16) -> i16 {
    i16::try_from(number).unwrap_or(i16::MAX)
}

#[cfg(test)]
mod tests;
