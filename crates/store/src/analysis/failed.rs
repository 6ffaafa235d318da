//! What happens when an analysis dies: the rules judge with what was found.

use domain::{decision::Unchecked, id::TeamId, media::Modality};
use queue::{DeadJob, FinishTx, OnDead};
use tracing::error;
use uuid::Uuid;

use super::{Analysed, parts, record::record};
use crate::{
    created_event::{self, Created},
    jobs::{self, Marks, MediaJob},
};

/// An analysis without attempts left. The rules get what was found so far, and a note of what was
/// not checked, so that the site's `on_failure` decides. No item is left without a verdict.
pub struct AnalysisDied;

impl OnDead for AnalysisDied {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let mut died = Vec::new();
        let mut created = Vec::new();
        for job in dead {
            let Ok(job_args) = job.args::<MediaJob>() else {
                error!(job.id = %job.id, "a dead analysis job has no readable item id");
                continue;
            };
            let media = job_args.media;
            created.extend(job_args.created());
            died.push(Analysed {
                media,
                team: TeamId::from(job.lane.0),
                scores: None,
                image_scored: None,
                providers: Vec::new(),
                unchecked: vec![Unchecked::ProviderFailed {
                    provider: "analysis".into(),
                    modality: Modality::Text,
                    detail: format!("{}: {}", job.cause.as_str(), job.error),
                }],
                gaps: Vec::new(),
                has_parts: true,
            });
        }
        let ids: Vec<Uuid> = died.iter().map(|died| died.media.as_uuid()).collect();
        let mut parts = parts::load(tx.conn, &ids).await?;
        for died in &mut died {
            let parts = parts.remove(&died.media.as_uuid()).unwrap_or_default();
            died.scores = parts::merged(&parts);
            died.image_scored = parts::image_scored(&parts);
        }
        let untold: Vec<&Created> = created.iter().collect();
        created_event::tell(tx.conn, &untold, &mut tx.jobs).await?;
        record(tx.conn, &died.iter().collect::<Vec<_>>()).await?;
        // No request waits for as long as its attempts took.
        let next = died
            .iter()
            .map(|died| jobs::judge(died.media, died.team, Marks::default()));
        tx.jobs.extend(next);
        Ok(())
    }
}
