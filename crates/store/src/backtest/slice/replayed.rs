//! The findings of a slice, which grow item by item, and their effect.

use std::collections::BTreeMap;

use domain::{
    backtest::Decided,
    id::{BacktestId, MediaId, TeamId},
    media::Status,
};
use queue::{Effect, FinishTx, Survivor};

use super::Slice;
use crate::{backtest::Change, jobs};

/// The most rules of a change that are listed.
const LISTED_RULES: usize = 20;

/// The effect of a slice: what it found is added to the backtest, and the next one is enqueued.
#[derive(Debug)]
pub struct Replayed {
    pub(super) backtest: BacktestId,
    pub(super) team: TeamId,
    pub(super) from: Option<MediaId>,
    pub(super) to: Option<MediaId>,
    pub(super) last: bool,
    pub(super) room: usize,
    pub(super) looked_at: i64,
    pub(super) of_other_groups: i64,
    pub(super) undecided: i64,
    pub(super) without_content: i64,
    pub(super) without_scores: i64,
    pub(super) changed: i64,
    pub(super) counts: BTreeMap<(Status, Status, Decided), i64>,
    pub(super) changes: Vec<Change>,
}

/// The result for an item that was looked at.
#[derive(Clone, Debug)]
pub enum Look {
    /// The group does not judge it.
    OfOtherGroups,
    /// It has no verdict yet.
    Undecided,
    /// Its content is no longer stored.
    WithoutContent,
    /// The rules ask for scores, and it was never analysed.
    WithoutScores,
    /// It was judged.
    Judged(Change),
}

impl Replayed {
    /// Starts empty, before any item of the slice was looked at.
    pub fn new(slice: &Slice) -> Self {
        Self {
            backtest: slice.backtest,
            team: slice.team,
            from: slice.from,
            to: slice.to,
            last: slice.last,
            room: slice.room,
            looked_at: 0,
            of_other_groups: 0,
            undecided: 0,
            without_content: 0,
            without_scores: 0,
            changed: 0,
            counts: BTreeMap::new(),
            changes: Vec::new(),
        }
    }

    /// The slice ends with this item; the next one begins after it.
    pub fn end_with(&mut self, item: MediaId) {
        self.to = Some(item);
        self.last = false;
    }

    /// An item of the slice was looked at.
    pub fn add(&mut self, look: Look) {
        self.looked_at += 1;
        let mut change = match look {
            Look::OfOtherGroups => return self.of_other_groups += 1,
            Look::Undecided => return self.undecided += 1,
            Look::WithoutContent => return self.without_content += 1,
            Look::WithoutScores => return self.without_scores += 1,
            Look::Judged(change) => change,
        };
        let key = (change.old, change.new, change.decided);
        *self.counts.entry(key).or_default() += 1;
        if change.old != change.new {
            self.changed += 1;
            if self.changes.len() < self.room {
                change.rules.truncate(LISTED_RULES);
                self.changes.push(change);
            }
        }
    }
}

impl Effect for Replayed {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        for Survivor { effect, .. } in batch {
            if !effect.advance(tx.conn).await? {
                continue;
            }
            effect.count(tx.conn).await?;
            effect.list(tx.conn).await?;
            if !effect.last {
                tx.jobs.push(jobs::replay(effect.backtest, effect.team));
            }
        }
        Ok(())
    }
}
