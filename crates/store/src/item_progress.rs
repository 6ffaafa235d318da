//! How far an item has come: the effect of a run of its job, whether that analyses or judges it.

use std::time::Duration;

use domain::id::MediaId;
use queue::{Effect, FinishTx, Survivor};
use tracing::debug;

use crate::{
    analysis::{self, Analysed, Piece, ProviderReport},
    created_event::{self, Created},
    jobs::{self, Marks},
    verdict::{self, Concluded},
    verdict_waiters::Promise,
};

/// What a run leaves behind.
#[derive(Debug)]
pub struct Progress {
    /// The acceptance to tell first; none if it was told.
    pub created: Option<Created>,
    /// What else.
    pub stage: Stage,
    /// What is owed to the request that waits for the verdict, if one does.
    pub awaited: Option<Promise>,
}

/// How far an item has come.
#[derive(Debug)]
pub enum Stage {
    /// No further.
    Waiting,
    /// Some of its analysis is there and is kept until the rest is.
    Begun {
        /// The item.
        media: MediaId,
        /// What providers said that had not answered before.
        reports: Vec<ProviderReport>,
        /// What they said of pieces of its text, and of frames of its image.
        pieces: Vec<Piece>,
    },
    /// Its analysis is complete and is kept, and a job of the rules is next.
    Analysed {
        /// The analysis.
        analysed: Analysed,
        /// How long that job waits.
        wait: Duration,
    },
    /// It is decided: its analysis, if it was made in the same run, and its verdict are kept.
    Judged {
        /// The analysis.
        analysed: Option<Analysed>,
        /// The verdict.
        concluded: Concluded,
    },
}

impl From<Stage> for Progress {
    fn from(stage: Stage) -> Self {
        Self {
            created: None,
            stage,
            awaited: None,
        }
    }
}

impl From<Concluded> for Progress {
    /// A verdict alone: everything else about the item is stored already.
    fn from(concluded: Concluded) -> Self {
        Self::from(Stage::Judged {
            analysed: None,
            concluded,
        })
    }
}

impl Effect for Progress {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let mut untold = Vec::new();
        let mut begun = Vec::new();
        let mut in_pieces = Vec::new();
        let mut complete = Vec::new();
        let mut judged = Vec::new();
        for Survivor { effect, .. } in batch {
            let created = effect.created.as_ref();
            match &effect.stage {
                Stage::Waiting => untold.extend(created),
                Stage::Begun {
                    media,
                    reports,
                    pieces,
                } => {
                    untold.extend(created);
                    begun.push((*media, reports.as_slice()));
                    in_pieces.push((*media, pieces.as_slice()));
                }
                Stage::Analysed { analysed, wait } => {
                    untold.extend(created);
                    complete.push(analysed);
                    let marks = Marks {
                        awaited: effect.awaited.is_some(),
                        all_scores: false,
                    };
                    let judge = jobs::judge(analysed.media, analysed.team, marks);
                    tx.jobs.push(judge.delay(*wait));
                }
                Stage::Judged {
                    analysed,
                    concluded,
                } => {
                    // The verdict's statement stores the analysis, too, unless parts of it are kept
                    // elsewhere.
                    let (elsewhere, here) = match analysed {
                        Some(analysed) if analysed.has_parts => (Some(analysed), None),
                        here => (None, here.as_ref()),
                    };
                    complete.extend(elsewhere);
                    judged.push((concluded, here, created));
                }
            }
        }
        created_event::tell(tx.conn, &untold, &mut tx.jobs).await?;
        analysis::parts::keep(tx.conn, &begun).await?;
        analysis::pieces::keep(tx.conn, &in_pieces).await?;
        analysis::record(tx.conn, &complete).await?;
        let stored = verdict::store(tx, &judged).await?;
        for Survivor { effect, .. } in batch {
            if let (Some(promise), Stage::Judged { concluded, .. }) =
                (&effect.awaited, &effect.stage)
            {
                promise.note(stored.contains(&concluded.media));
            }
        }
        Ok(())
    }

    fn committed(&self) {
        if let Stage::Judged { concluded, .. } = &self.stage {
            let (status, by) = (
                concluded.status.as_str(),
                concluded.moderation_type.as_str(),
            );
            debug!(media.id = %concluded.media, status, by, "an item is judged");
        }
        if let Some(promise) = &self.awaited
            && let Stage::Judged { concluded, .. } = &self.stage
        {
            promise.keep(concluded.media, concluded.status, &concluded.details);
        }
    }
}
