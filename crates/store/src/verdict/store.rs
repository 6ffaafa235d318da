//! Storing verdicts of the rules, with what shadows said.

use std::collections::HashSet;

use domain::id::MediaId;
use queue::FinishTx;

use super::{
    Concluded,
    conclude::{Conclusion, conclude},
};
use crate::{
    analysis::Analysed,
    created_event::{self, Created},
    rule_group::shadow,
};

/// A verdict, the analysis to store with it, and the acceptance to tell with it.
pub(crate) type Judged<'a> = (&'a Concluded, Option<&'a Analysed>, Option<&'a Created>);

/// Stores verdicts of the rules and tells them, acceptances first. Returns whose verdicts they have become: others were decided before.
pub(crate) async fn store(
    tx: &mut FinishTx<'_>,
    judged: &[Judged<'_>],
) -> Result<HashSet<MediaId>, sqlx::Error> {
    if judged.is_empty() {
        return Ok(HashSet::new());
    }
    let verdicts: Vec<_> = judged
        .iter()
        .map(|(concluded, analysed, created)| Conclusion {
            analysed: *analysed,
            created: *created,
            ..concluded.conclusion()
        })
        .collect();
    let stored = conclude(tx.conn, &verdicts, &mut tx.jobs).await?;
    let stored: HashSet<MediaId> = stored.into_iter().map(|(media, _)| media).collect();
    // Somebody else has decided about these in the meantime.
    let untold = judged.iter().filter_map(|(_, _, created)| *created);
    let untold = untold.filter(|created| !stored.contains(&created.media));
    created_event::tell(tx.conn, &untold.collect::<Vec<_>>(), &mut tx.jobs).await?;
    let compared = judged
        .iter()
        .flat_map(|(concluded, ..)| concluded.compared())
        // Items that somebody else decided in the meantime are counted there.
        .filter(|compared| stored.contains(&compared.media));
    shadow::record(tx.conn, &compared.collect::<Vec<_>>()).await?;
    Ok(stored)
}
