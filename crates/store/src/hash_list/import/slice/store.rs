//! The statements that store what a chunk holds.

use domain::{id::HashEntryId, reason::Reason};
use sqlx::PgConnection;

use super::imported::Imported;
use crate::{
    chain::{self, End, Step},
    hash_list::{
        MAX_ENTRIES, count,
        entry::{NewEntry, insert},
        import::{Import, LISTED},
        raise,
    },
};

impl Imported {
    /// Whether there is another chunk to read.
    pub(super) async fn store(&self, conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
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
