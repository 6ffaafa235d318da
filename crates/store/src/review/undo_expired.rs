//! What happens when the time to undo is over: what a person said is told, waits for a second person, or goes to a lead.

mod follow_up;
mod load;

use std::time::Duration;

use domain::{
    id::OpinionId,
    media::{ModerationType, Ruling, Seen, Step},
    review::{Next, Outcome, ReviewKind, Said, Task, Tier, next},
};
use queue::{DeadJob, Effect, FinishTx, OnDead, Survivor};
use serde::Serialize;
use sqlx::{PgConnection, PgPool};
use tracing::error;
use uuid::Uuid;

use self::load::{Spoken, load};
use crate::{
    Error,
    jobs::ReviewJob,
    json::to_json,
    media::{details_of, moderator},
    verdict::{Conclusion, conclude},
};

/// The time to undo an opinion is over.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// The opinion.
    pub opinion: OpinionId,
}

/// For how much longer an opinion is held, by Postgres's clock. None: the person undid it, or it
/// was told already.
pub async fn held_for(pool: &PgPool, opinion: OpinionId) -> Result<Option<Duration>, Error> {
    let seconds = sqlx::query_scalar!(
        r#"
        select greatest(extract(epoch from held_until - clock_timestamp()), 0)::float8 as "seconds!"
        from review_opinions
        where id = $1 and outcome is null
        "#,
        opinion.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    Ok(seconds.map(Duration::from_secs_f64))
}

impl Effect for Ended {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let opinions: Vec<Uuid> = batch
            .iter()
            .map(|ended| ended.effect.opinion.as_uuid())
            .collect();
        let spoken = load(tx.conn, &opinions).await?;
        let mut told = Vec::new();
        for spoken in &spoken {
            match (spoken.next(), spoken.step()) {
                (Next::Tell, Some(step)) => told.push(Telling::of(tx.conn, spoken, step).await?),
                (Next::Tell, None) | (Next::Nothing, _) => {
                    superseded(tx.conn, spoken).await?;
                }
                (Next::Keep, _) => kept(tx.conn, spoken).await?,
                (Next::AskAnother, _) => ask_another(tx.conn, spoken).await?,
                (Next::AskLead, _) => ask_lead(tx.conn, spoken).await?,
                (Next::Grade, _) => graded(tx.conn, spoken).await?,
            }
            if spoken.kind == ReviewKind::Review && spoken.bulk.is_none() {
                follow_up::with_known_answer(tx.conn, spoken).await?;
            }
        }
        if told.is_empty() {
            return Ok(());
        }
        for telling in &told {
            telling.mark(tx.conn).await?;
        }
        let conclusions: Vec<_> = told.iter().map(Telling::conclusion).collect();
        conclude(tx.conn, &conclusions, &mut tx.jobs).await?;
        for telling in &told {
            if telling.is_audited() {
                follow_up::with_audit(tx.conn, telling.spoken).await?;
            }
        }
        Ok(())
    }
}

impl Spoken {
    fn next(&self) -> Next {
        let is_as_seen = self.is_open && self.standing == self.seen;
        let task = Task {
            kind: self.kind,
            tier: self.tier,
            needs_two: self.needs_two,
            stands: is_as_seen.then_some(self.standing.status),
        };
        let said = Said {
            ruling: self.ruling,
            before: self.before.map(|before| before.ruling),
        };
        next(task, said)
    }

    /// The verdict; none if the item has that status already.
    fn step(&self) -> Option<Step> {
        self.standing.ruled(self.ruling, Seen::default()).ok()
    }

    /// What became of an earlier opinion when this one is told.
    fn outcome_of(&self, before: Ruling) -> Outcome {
        if before == self.ruling {
            Outcome::Agreed
        } else {
            Outcome::Disagreed
        }
    }
}

/// A verdict to store.
struct Telling<'a> {
    spoken: &'a Spoken,
    step: Step,
    details: String,
    trace: String,
}

/// How the verdict came to be, as it is stored with it.
#[derive(Serialize)]
struct Trace<'a, M> {
    moderator: M,
    reason: &'a str,
    review: TracedReview<'a>,
}

#[derive(Serialize)]
struct TracedReview<'a> {
    id: Uuid,
    tier: Tier,
    policy_id: Option<Uuid>,
    policy_code: Option<&'a str>,
    /// Who had said the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    agreed_with: Option<Uuid>,
    /// The bulk decision that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    bulk_id: Option<Uuid>,
}

impl<'a> Telling<'a> {
    async fn of(
        conn: &mut PgConnection,
        spoken: &'a Spoken,
        step: Step,
    ) -> Result<Self, sqlx::Error> {
        let agreed = spoken
            .before
            .filter(|before| before.ruling == spoken.ruling);
        let trace = Trace {
            moderator: moderator(conn, spoken.actor).await?,
            reason: spoken.reason.as_str(),
            review: TracedReview {
                id: spoken.review.as_uuid(),
                tier: spoken.tier,
                policy_id: spoken.policy_id,
                policy_code: spoken.policy_code.as_deref(),
                agreed_with: agreed.map(|before| before.actor),
                bulk_id: spoken.bulk,
            },
        };
        Ok(Self {
            details: details_of(conn, spoken.media, &spoken.reason).await?,
            trace: to_json(&trace)?,
            spoken,
            step,
        })
    }

    /// Notes what became of the opinions. Before the verdict is stored: that ends the review.
    async fn mark(&self, conn: &mut PgConnection) -> Result<(), sqlx::Error> {
        outcome(conn, self.spoken.id, Outcome::Told).await?;
        if let Some(before) = self.spoken.before {
            outcome(conn, before.id, self.spoken.outcome_of(before.ruling)).await?;
        }
        match self.spoken.kind {
            ReviewKind::Review => Ok(()),
            // The trigger ends reviews of items that leave `pending_review`.
            ReviewKind::Audit | ReviewKind::Golden | ReviewKind::Appeal => {
                end(conn, self.spoken).await
            }
        }
    }

    /// Whether one person alone decided.
    fn is_audited(&self) -> bool {
        let spoken = self.spoken;
        spoken.kind == ReviewKind::Review
            && spoken.tier == Tier::Everybody
            && spoken.before.is_none()
    }

    fn conclusion(&self) -> Conclusion<'_> {
        Conclusion {
            media: self.spoken.media,
            step: self.step,
            moderation_type: ModerationType::Manual,
            details: &self.details,
            trace: &self.trace,
            analysed: None,
            created: None,
        }
    }
}

/// A decision that could not be told: it counts as undone, and the review waits again. No review is
/// lost.
pub struct ReviewDied;

impl OnDead for ReviewDied {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let mut opinions = Vec::new();
        for job in dead {
            let Ok(ReviewJob { opinion }) = job.args() else {
                error!(job.id = %job.id, "a dead job of a review has no readable id");
                continue;
            };
            opinions.push(opinion.as_uuid());
        }
        forget(tx.conn, &opinions).await
    }
}

async fn forget(conn: &mut PgConnection, opinions: &[Uuid]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        with released as (
            update review_tasks
            set held_until = null
            where id in (select task_id from review_opinions where id = any($1) and outcome is null)
        )
        delete from review_opinions where id = any($1) and outcome is null
        ",
        opinions,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Notes what became of an opinion.
async fn outcome(
    conn: &mut PgConnection,
    opinion: OpinionId,
    outcome: Outcome,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update review_opinions set outcome = $2 where id = $1",
        opinion.as_uuid(),
        outcome.as_str(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Asks a second person, who sees nothing of what the first one said.
async fn ask_another(conn: &mut PgConnection, spoken: &Spoken) -> Result<(), sqlx::Error> {
    outcome(conn, spoken.id, Outcome::Waits).await?;
    sqlx::query!(
        "update review_tasks set held_until = null, needed = 2, not_for = not_for || $2::uuid where id = $1",
        spoken.review.as_uuid(),
        spoken.actor.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Asks a lead who is neither of the two.
async fn ask_lead(conn: &mut PgConnection, spoken: &Spoken) -> Result<(), sqlx::Error> {
    outcome(conn, spoken.id, Outcome::Disagreed).await?;
    if let Some(before) = spoken.before {
        outcome(conn, before.id, Outcome::Disagreed).await?;
    }
    sqlx::query!(
        "update review_tasks set held_until = null, tier = 2, not_for = not_for || $2::uuid where id = $1",
        spoken.review.as_uuid(),
        spoken.actor.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Somebody else has decided about the item. A review of an item that waits goes on, if it is there.
async fn superseded(conn: &mut PgConnection, spoken: &Spoken) -> Result<(), sqlx::Error> {
    outcome(conn, spoken.id, Outcome::Superseded).await?;
    if spoken.kind != ReviewKind::Review {
        return end(conn, spoken).await;
    }
    sqlx::query!(
        "update review_tasks set held_until = null where id = $1",
        spoken.review.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The verdict in force stays.
async fn kept(conn: &mut PgConnection, spoken: &Spoken) -> Result<(), sqlx::Error> {
    outcome(conn, spoken.id, Outcome::Agreed).await?;
    end(conn, spoken).await
}

/// The answer is known. If somebody has taken the item off the known answers, nothing is said.
async fn graded(conn: &mut PgConnection, spoken: &Spoken) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        update review_opinions o
        set
            outcome = coalesce(
                (
                    select case when g.expected = o.ruling then 'right' else 'wrong' end
                    from golden_items g
                    where g.media_id = o.media_id
                ),
                'superseded'
            )
        where o.id = $1
        ",
        spoken.id.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    end(conn, spoken).await
}

/// Ends the review.
async fn end(conn: &mut PgConnection, spoken: &Spoken) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from review_tasks where id = $1",
        spoken.review.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}
