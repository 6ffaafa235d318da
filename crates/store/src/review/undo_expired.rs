//! What happens when the time to undo is over: what a person said is told, waits for a second person, or goes to a lead.

mod failed;
mod follow_up;
mod load;
mod record;

use std::time::Duration;

use domain::{
    id::OpinionId,
    media::{ModerationType, Ruling, Seen, Step},
    review::{Next, Outcome, ReviewKind, Said, Task, Tier, next},
};
use queue::{Effect, FinishTx, Survivor};
use serde::Serialize;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

pub use self::failed::ReviewDied;
use self::load::{Spoken, load};
use crate::{
    Error,
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
                    record::superseded(tx.conn, spoken).await?;
                }
                (Next::Keep, _) => record::kept(tx.conn, spoken).await?,
                (Next::AskAnother, _) => record::ask_another(tx.conn, spoken).await?,
                (Next::AskLead, _) => record::ask_lead(tx.conn, spoken).await?,
                (Next::Grade, _) => record::graded(tx.conn, spoken).await?,
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
        record::outcome(conn, self.spoken.id, Outcome::Told).await?;
        if let Some(before) = self.spoken.before {
            record::outcome(conn, before.id, self.spoken.outcome_of(before.ruling)).await?;
        }
        match self.spoken.kind {
            ReviewKind::Review => Ok(()),
            // The trigger ends reviews of items that leave `pending_review`.
            ReviewKind::Audit | ReviewKind::Golden | ReviewKind::Appeal => {
                record::end(conn, self.spoken).await
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
