//! The lines of a chunk that were read, and their effect.

use domain::{
    hash_list::{Line, LineFault},
    id::{ActorId, HashEntryId, HashImportId, HashListId, TeamId},
};
use queue::{Effect, FinishTx, Survivor};
use uuid::Uuid;

use super::Chunk;
use crate::jobs;

/// The effect of a chunk: what it holds is put on the list, and the next one is enqueued.
#[derive(Debug)]
pub struct Imported {
    pub(super) import: HashImportId,
    pub(super) list: HashListId,
    pub(super) team: Option<TeamId>,
    pub(super) number: i32,
    pub(super) last: bool,
    pub(super) by: Option<ActorId>,
    pub(super) lines: i64,
    pub(super) entries: Vec<(HashEntryId, Line)>,
    pub(super) refused: Vec<(i64, String)>,
}

impl Imported {
    /// Starts empty, before any line of the chunk was read.
    pub fn new(chunk: &Chunk) -> Self {
        Self {
            import: chunk.import,
            list: chunk.list,
            team: chunk.team,
            number: chunk.number,
            last: chunk.last,
            by: chunk.by,
            lines: 0,
            entries: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// A line of the chunk was read; its number in the file counts from 1.
    pub fn add(&mut self, number: i64, read: Result<Option<Line>, LineFault>) {
        self.lines += 1;
        match read {
            Ok(None) => {}
            Ok(Some(line)) => self.entries.push((Uuid::now_v7().into(), line)),
            Err(fault) => self.refused.push((number, fault.to_string())),
        }
    }
}

impl Effect for Imported {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let mut effects: Vec<&Self> = batch.iter().map(|survivor| survivor.effect).collect();
        // All code that locks several lists uses the same order.
        effects.sort_by_key(|effect| effect.list);
        for effect in effects {
            if effect.store(tx.conn).await? {
                tx.jobs
                    .push(jobs::import(effect.import, effect.list, effect.team));
            }
        }
        Ok(())
    }
}
