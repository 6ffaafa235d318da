//! What happens when a judgement dies: a person must decide.

use domain::media::{ModerationType, Status};
use queue::{DeadJob, FinishTx, OnDead};
use tracing::error;

use super::{
    Concluded,
    store::{Judged, store},
};
use crate::jobs::MediaJob;

/// A judgement without attempts left: a person must decide. No item is left without a verdict.
pub struct JudgementDied;

impl OnDead for JudgementDied {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let mut verdicts = Vec::new();
        let mut created = Vec::new();
        for job in dead {
            let Ok(judgement) = job.args::<MediaJob>() else {
                error!(job.id = %job.id, "a dead rules job has no readable item id");
                continue;
            };
            let media = judgement.media;
            created.push(judgement.created());
            verdicts.push(Concluded {
                media,
                status: Status::PendingReview,
                moderation_type: ModerationType::Rule,
                details: r#"{"rule_violations":[],"reason":"the rules could not be evaluated"}"#
                    .into(),
                trace: format!(r#"{{"job":{},"cause":"{}"}}"#, job.id, job.cause.as_str()),
                shadows: Vec::new(),
            });
        }
        let judged: Vec<Judged<'_>> = verdicts
            .iter()
            .zip(&created)
            .map(|(concluded, created)| (concluded, None, created.as_ref()))
            .collect();
        store(tx, &judged).await.map(drop)
    }
}
