//! Judges an item in the run of its analysis, if that can be done now.

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::FutureExt as _;
use store::{
    analysis::{Analysed, ToAnalyse},
    item_progress::Stage,
    verdict::ToJudge,
};
use tokio::time::timeout;
use tracing::warn;

use super::{ASKING, Analyst};
use crate::rules::Reached;

/// How long judging may take in the run of the analysis. What takes longer, or waits longer, gets a job of its own.
const AT_ONCE: Duration = Duration::from_secs(5);

impl Analyst {
    /// Judges an item that was just analysed. If that is not possible now, the analysis is stored,
    /// and the item gets a job in the queue `rules`.
    pub(super) async fn judge_at_once(
        &self,
        item: &ToAnalyse,
        analysed: Analysed,
        started: Instant,
    ) -> Stage {
        let is_late = started.elapsed() + AT_ONCE > ASKING;
        let verdicts = self.verdicts.as_ref();
        let Some(verdicts) = verdicts.filter(|_| !item.rules_are_held && !is_late) else {
            return kept(analysed, Duration::ZERO);
        };
        let to_judge = Arc::new(ToJudge::analysed(item, &analysed));
        let judging = AssertUnwindSafe(verdicts.reach(&to_judge, started)).catch_unwind();
        match timeout(AT_ONCE, judging).await {
            Ok(Ok(Ok(Reached::Verdict(concluded)))) => Stage::Judged {
                analysed: Some(analysed),
                concluded,
            },
            Ok(Ok(Ok(Reached::Later(wait)))) => kept(analysed, wait),
            Ok(Ok(Err(error))) => {
                warn!(media.id = %item.media, %error, "could not judge an item in the run of its analysis; it gets a job in the queue `rules`");
                kept(analysed, Duration::ZERO)
            }
            Ok(Err(_)) => {
                warn!(media.id = %item.media, "judging an item in the run of its analysis panicked; it gets a job in the queue `rules`");
                kept(analysed, Duration::ZERO)
            }
            // A job of its own has more time for the rules.
            Err(_) => kept(analysed, Duration::ZERO),
        }
    }
}

/// The analysis is stored, and the item waits this long for the rules.
fn kept(analysed: Analysed, wait: Duration) -> Stage {
    Stage::Analysed { analysed, wait }
}
