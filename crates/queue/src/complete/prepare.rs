//! The finishing transaction, up to the commit.

use std::{
    any::TypeId,
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use sqlx::{Connection, PgConnection, Postgres, Transaction};

use crate::{
    FinishTx, JobId, NewJobs, after_commit::Written, effect::AnyEffect, fence, outcome::Ended,
    preclaimed::enqueue_preclaimed, shared::Shared,
};

/// The transaction up to the commit, and its number if it changed anything.
pub(super) async fn prepare<'c>(
    conn: &'c mut PgConnection,
    shared: &Arc<Shared>,
    ended: &[Ended],
) -> Result<(Transaction<'c, Postgres>, Written, Option<i64>), sqlx::Error> {
    let mut tx = conn.begin().await?;
    let ours = fence::complete(&mut tx, shared.worker, ended).await?;
    let survivors = ours.ids.into_iter().zip(ours.fences).collect();
    let mut finish = FinishTx {
        conn: &mut tx,
        jobs: NewJobs::new(),
    };
    apply_effects(ended, &survivors, &mut finish).await?;
    let FinishTx { conn, jobs } = finish;
    let follow_ups = enqueue_preclaimed(conn, shared, jobs).await?;
    Ok((
        tx,
        Written {
            survivors,
            follow_ups,
        },
        ours.transaction,
    ))
}

/// Applies the effects of the survivors, those of each type together.
async fn apply_effects(
    ended: &[Ended],
    survivors: &HashSet<(JobId, i32)>,
    tx: &mut FinishTx<'_>,
) -> Result<(), sqlx::Error> {
    // Sorted by type, in the same order in every batch, so that two finishers lock tables in the
    // same order.
    let mut kinds: BTreeMap<TypeId, Vec<(JobId, u16, &AnyEffect)>> = BTreeMap::new();
    for ended in ended {
        let claim = &ended.in_flight.claim;
        if let Some(effect) = ended.effect()
            && survivors.contains(&(claim.job, ended.in_flight.fence()))
        {
            kinds
                .entry(effect.kind())
                .or_default()
                .push((claim.job, claim.attempt(), effect));
        }
    }
    for batch in kinds.values() {
        AnyEffect::apply_all(batch, tx).await?;
    }
    Ok(())
}
