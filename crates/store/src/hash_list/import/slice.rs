//! A chunk of a file of hashes: what a job reads, and the effect of having read it.

use domain::{
    hash_list::{Line, LineFault},
    id::{ActorId, HashEntryId, HashImportId, HashListId, TeamId},
    image_hash::HashAlgorithm,
    reason::Reason,
};
use queue::{Effect, FinishTx, Survivor};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::{
    Error,
    chain::{self, End, Step},
    hash_list::{
        MAX_ENTRIES, count,
        entry::{NewEntry, insert},
        import::{Import, LISTED},
        raise,
    },
    jobs,
};

/// The next chunk.
#[derive(Debug)]
pub struct Chunk {
    /// The import.
    pub import: HashImportId,
    /// The kind of hashes whose lines do not name it.
    pub algorithm: HashAlgorithm,
    /// The number of its first line in the file, from 1.
    pub first_line: i64,
    /// Its lines.
    pub bytes: Vec<u8>,
    list: HashListId,
    team: Option<TeamId>,
    number: i32,
    last: bool,
    by: Option<ActorId>,
}

/// Loads the next chunk; none if the import has ended.
pub async fn next(pool: &PgPool, import: HashImportId) -> Result<Option<Chunk>, Error> {
    let row = sqlx::query!(
        "
        select i.list_id, i.team_id, i.algorithm, i.chunks, i.next_chunk, i.created_by, c.first_line, c.bytes
        from hash_imports i
        join hash_import_chunks c on c.import_id = i.id and c.number = i.next_chunk
        where i.id = $1 and i.state = 'running'
        ",
        import.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    row.map(|row| {
        Ok(Chunk {
            import,
            algorithm: row.algorithm.parse()?,
            first_line: row.first_line,
            bytes: row.bytes,
            list: row.list_id.into(),
            team: row.team_id.map(TeamId::from),
            number: row.next_chunk,
            last: row.next_chunk + 1 >= row.chunks,
            by: row.created_by.map(ActorId::from),
        })
    })
    .transpose()
}

/// The effect of a chunk: what it holds is put on the list, and the next one is enqueued.
#[derive(Debug)]
pub struct Imported {
    import: HashImportId,
    list: HashListId,
    team: Option<TeamId>,
    number: i32,
    last: bool,
    by: Option<ActorId>,
    lines: i64,
    entries: Vec<(HashEntryId, Line)>,
    refused: Vec<(i64, String)>,
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

impl Imported {
    /// Whether there is another chunk to read.
    async fn store(&self, conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
        // The list is locked first, as in a deletion.
        let Some(raised) = raise(conn, self.list).await? else {
            return Ok(false);
        };
        let room = usize::try_from(MAX_ENTRIES - raised.entries).unwrap_or(0);
        let (fitting, rest) = self.entries.split_at(self.entries.len().min(room));
        let is_full = !rest.is_empty();
        if !self.advance(conn, is_full).await? {
            return Ok(false);
        }
        let new: Vec<(HashEntryId, NewEntry<'_>)> = fitting
            .iter()
            .map(|(id, line)| {
                let entry = NewEntry {
                    hashes: line.hashes,
                    note: line.note.as_ref().map_or("", Reason::as_str),
                    media: None,
                };
                (*id, entry)
            })
            .collect();
        let added = insert(conn, self.list, raised.revision, &new, self.by).await?;
        let added = i64::try_from(added).unwrap_or(i64::MAX);
        count(conn, self.list, added).await?;
        let existing = i64::try_from(fitting.len()).unwrap_or(i64::MAX) - added;
        self.list_refusals(conn).await?;
        self.count(conn, added, existing).await?;
        self.drop_chunk(conn).await?;
        Ok(!is_full && !self.last)
    }

    /// False: the import was stopped, or this chunk is not its next one.
    async fn advance(&self, conn: &mut PgConnection, is_full: bool) -> Result<bool, sqlx::Error> {
        let end = if is_full {
            End::Failed("there are as many entries as there may be")
        } else {
            End::of(self.last)
        };
        let step = Step {
            from: self.number,
            to: self.number + 1,
            end,
        };
        chain::advance::<Import>(conn, self.import.as_uuid(), step).await
    }

    async fn count(
        &self,
        conn: &mut PgConnection,
        added: i64,
        existing: i64,
    ) -> Result<(), sqlx::Error> {
        sqlx::query!(
            "
            update hash_imports
            set lines = lines + $2, added = added + $3, existing = existing + $4, refused = refused + $5
            where id = $1
            ",
            self.import.as_uuid(),
            self.lines,
            added,
            existing,
            i64::try_from(self.refused.len()).unwrap_or(i64::MAX),
        )
        .execute(conn)
        .await?;
        Ok(())
    }

    async fn list_refusals(&self, conn: &mut PgConnection) -> Result<(), sqlx::Error> {
        let lines: Vec<i64> = self.refused.iter().map(|(line, _)| *line).collect();
        let reasons: Vec<&str> = self.refused.iter().map(|(_, why)| why.as_str()).collect();
        sqlx::query!(
            "
            insert into hash_import_refusals (import_id, line, reason)
            select $1, r.line, r.reason
            from unnest($2::bigint [], $3::text []) as r (line, reason)
            order by r.line
            limit (
                select greatest($4 - refused, 0) from hash_imports where id = $1
            )
            ",
            self.import.as_uuid(),
            &lines,
            &reasons as &[&str],
            LISTED,
        )
        .execute(conn)
        .await?;
        Ok(())
    }

    async fn drop_chunk(&self, conn: &mut PgConnection) -> Result<(), sqlx::Error> {
        sqlx::query!(
            "delete from hash_import_chunks where import_id = $1 and number = $2",
            self.import.as_uuid(),
            self.number,
        )
        .execute(conn)
        .await?;
        Ok(())
    }
}
