//! A slice of a bulk decision: which reviews come next, and the effect of deciding about them.

use std::time::Duration;

use domain::{
    id::{ActorId, BulkDecisionId, ReviewPolicyId, SiteId, TeamId},
    media::{Ruling, Standing},
    reason::Reason,
    review::{ReviewKind, Tier},
};
use queue::{Effect, FinishTx, Survivor};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::Bulk;
use crate::{
    Error,
    chain::{self, End, Step},
    jobs,
    review::{Locked, NewOpinion, UsedPolicy, hold},
};

/// Reviews of a slice. They are locked for some tens of milliseconds.
pub const SLICE: i32 = 100;

/// The next slice, and with it the effect of holding its decisions.
#[derive(Debug)]
pub struct Slice {
    bulk: BulkDecisionId,
    team: TeamId,
    by: ActorId,
    ruling: Ruling,
    policy: Option<UsedPolicy>,
    reason: Reason,
    sites: Option<Vec<Uuid>>,
    /// How many reviews are done before it, and after it.
    step: Step<i32>,
    reviews: Vec<Uuid>,
}

/// Loads the next slice; none if the bulk decision has ended.
pub async fn next(pool: &PgPool, bulk: BulkDecisionId) -> Result<Option<Slice>, Error> {
    let row = sqlx::query!(
        r#"
        select
            b.team_id, b.created_by, b.ruling, b.reason, b.sites, b.walked_to, b.total,
            b.review_ids[b.walked_to + 1:b.walked_to + $2] as "reviews!",
            p.id as "policy_id?",
            p.code as "policy_code?",
            p.reason as "policy_reason?"
        from bulk_decisions b
        left join review_policies p on p.id = b.policy_id
        where b.id = $1 and b.state = 'running'
        "#,
        bulk.as_uuid(),
        SLICE,
    )
    .fetch_optional(pool)
    .await?;
    row.map(|row| {
        let to = row.walked_to.saturating_add(SLICE).min(row.total);
        let policy = match (row.policy_id, row.policy_code, row.policy_reason) {
            (Some(id), Some(code), Some(reason)) => Some(UsedPolicy {
                id: ReviewPolicyId::from(id),
                code,
                reason,
            }),
            _ => None,
        };
        Ok(Slice {
            bulk,
            team: row.team_id.into(),
            by: row.created_by.into(),
            ruling: row.ruling.parse()?,
            policy,
            reason: Reason::try_from(row.reason)
                .map_err(|error| Error::Unreadable(format!("a reason {error}")))?,
            sites: row.sites,
            step: Step {
                from: row.walked_to,
                to,
                end: End::of(to >= row.total),
            },
            reviews: row.reviews,
        })
    })
    .transpose()
}

impl Effect for Slice {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        for Survivor { effect: slice, .. } in batch {
            if !chain::advance::<Bulk>(tx.conn, slice.bulk.as_uuid(), slice.step).await? {
                continue;
            }
            let free = slice.lock_free(tx.conn).await?;
            for (review, undo) in &free {
                let opinion = NewOpinion {
                    review,
                    by: slice.by,
                    ruling: slice.ruling,
                    policy: slice.policy.as_ref(),
                    reason: &slice.reason,
                    undo: *undo,
                    bulk: Some(slice.bulk),
                };
                let (_, _, job) = hold(tx.conn, opinion).await?;
                tx.jobs.push(job);
            }
            slice.count(tx.conn, free.len()).await?;
            match slice.step.end {
                End::Open => tx.jobs.push(jobs::decide_next(slice.bulk, slice.team)),
                End::Finished | End::Failed(_) => {
                    super::forget_reviews(tx.conn, slice.bulk.as_uuid()).await?;
                }
            }
        }
        Ok(())
    }
}

impl Slice {
    /// Locks the reviews of the slice that wait and that nobody has, with the time to undo a
    /// decision there. It waits for nobody: who holds a lock there has the review.
    async fn lock_free(
        &self,
        conn: &mut PgConnection,
    ) -> Result<Vec<(Locked, Duration)>, sqlx::Error> {
        let rows = sqlx::query!(
            r#"
            select
                t.id, t.media_id, t.site_id, t.tier, t.verdict, m.status,
                coalesce(d.undo_seconds, 10::smallint) as "undo_seconds!"
            from review_tasks t
            join media m on m.id = t.media_id
            left join desk_settings d on d.site_id = t.site_id
            where
                t.id = any($1) and t.team_id = $2 and t.kind = 'review' and t.only_for is null and t.held_until is null
                and (t.leased_until is null or t.leased_until <= clock_timestamp())
                and $3 <> all(t.not_for)
                and ($4::uuid [] is null or t.site_id = any($4))
                and not exists (select from review_opinions o where o.task_id = t.id and o.actor_id = $3)
            order by t.id
            for no key update of t skip locked
            "#,
            &self.reviews,
            self.team.as_uuid(),
            self.by.as_uuid(),
            self.sites.as_deref(),
        )
        .fetch_all(conn)
        .await?;
        rows.into_iter()
            .map(|row| {
                let tier = Tier::of_number(row.tier);
                let locked = Locked {
                    id: row.id.into(),
                    media: row.media_id.into(),
                    team: self.team,
                    site: SiteId::from(row.site_id),
                    kind: ReviewKind::Review,
                    tier: tier
                        .ok_or_else(|| sqlx::Error::Decode("a tier that is unknown".into()))?,
                    leased_by: None,
                    leased_at: None,
                    is_held: false,
                    seen: Standing {
                        status: row
                            .status
                            .parse()
                            .map_err(|error| sqlx::Error::Decode(Box::new(error)))?,
                        verdicts: u16::try_from(row.verdict).unwrap_or(0),
                    },
                };
                let undo = Duration::from_secs(u64::from(row.undo_seconds.unsigned_abs()));
                Ok((locked, undo))
            })
            .collect()
    }

    async fn count(&self, conn: &mut PgConnection, done: usize) -> Result<(), sqlx::Error> {
        let done = i32::try_from(done).unwrap_or(i32::MAX);
        sqlx::query!(
            "update bulk_decisions set done = done + $2, skipped = skipped + $3 where id = $1",
            self.bulk.as_uuid(),
            done,
            (self.step.to - self.step.from).saturating_sub(done),
        )
        .execute(conn)
        .await?;
        Ok(())
    }
}
