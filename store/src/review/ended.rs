//! The end of a hold: what a person said is told, waits for a second person, or goes to a lead.

mod died;
mod load;
mod mark;

use std::time::Duration;

use domain::{
    id::{MediaId, OpinionId},
    media::{ModerationType, Seen, Step},
    review::{Next, Outcome, Said, Task, Tier, next},
};
use queue::{Effect, FinishTx, Survivor};
use serde::Serialize;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

pub use self::died::ReviewDied;
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
        let mut verdicts = Vec::new();
        for spoken in &spoken {
            match spoken.next() {
                Next::Tell => match spoken.step() {
                    Some(step) => verdicts.push(Telling::of(tx.conn, spoken, step).await?),
                    None => mark::superseded(tx.conn, spoken).await?,
                },
                Next::AskAnother => mark::ask_another(tx.conn, spoken).await?,
                Next::AskLead => mark::ask_lead(tx.conn, spoken).await?,
                Next::Nothing => mark::superseded(tx.conn, spoken).await?,
            }
        }
        if verdicts.is_empty() {
            return Ok(());
        }
        // Before the verdicts: these end the reviews.
        for telling in &verdicts {
            mark::outcome(tx.conn, telling.spoken.id, Outcome::Told).await?;
            if let Some(before) = telling.spoken.before {
                mark::outcome(tx.conn, before.id, telling.spoken.outcome_of(before.ruling)).await?;
            }
        }
        let conclusions: Vec<_> = verdicts.iter().map(Telling::conclusion).collect();
        conclude(tx.conn, &conclusions, &mut tx.jobs).await?;
        Ok(())
    }
}

impl Spoken {
    fn next(&self) -> Next {
        let task = Task {
            tier: self.tier,
            needs_two: self.needs_two,
            still_stands: self.still_stands(),
        };
        let said = Said {
            ruling: self.ruling,
            before: self.before.map(|before| before.ruling),
        };
        next(task, said)
    }

    fn still_stands(&self) -> bool {
        self.task.is_some() && self.standing == self.seen
    }

    /// The verdict; none if the item has that status already.
    fn step(&self) -> Option<Step> {
        self.standing.ruled(self.ruling, Seen::default()).ok()
    }

    /// What became of an earlier opinion when this one is told.
    fn outcome_of(&self, before: domain::media::Ruling) -> Outcome {
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
            },
        };
        Ok(Self {
            details: details_of(conn, spoken.media, &spoken.reason).await?,
            trace: to_json(&trace)?,
            spoken,
            step,
        })
    }

    fn media(&self) -> MediaId {
        self.spoken.media
    }

    fn conclusion(&self) -> Conclusion<'_> {
        Conclusion {
            media: self.media(),
            step: self.step,
            moderation_type: ModerationType::Manual,
            details: &self.details,
            trace: &self.trace,
            analysed: None,
            created: None,
        }
    }
}
