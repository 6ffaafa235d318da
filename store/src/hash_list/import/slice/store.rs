//! The statements that store what a chunk holds.

use domain::{chain::State, id::HashEntryId, reason::Reason};
use sqlx::PgConnection;

use super::imported::Imported;
use crate::hash_list::{
    MAX_ENTRIES, count,
    entry::{NewEntry, insert},
    import::{LISTED, drop_chunks},
    raise,
};

impl Imported {
    /// False: the import was stopped, or this chunk is not its next one.
    pub(super) async fn store(&self, conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
        // The list is locked first, as in a deletion.
        let Some(raised) = raise(conn, self.list).await? else {
            return Ok(false);
        };
        if !self.stands(conn).await? {
            return Ok(false);
        }
        let room = usize::try_from(MAX_ENTRIES - raised.entries).unwrap_or(0);
        let (fitting, rest) = self.entries.split_at(self.entries.len().min(room));
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
        let full = !rest.is_empty();
        self.advance(conn, added, existing, full).await?;
        self.drop_chunk(conn).await?;
        Ok(!full)
    }

    pub(super) async fn stands(&self, conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
        let stands = sqlx::query_scalar!(
            "select id from hash_imports where id = $1 and state = 'running' and next_chunk = $2 for no key update",
            self.import.as_uuid(),
            self.number,
        )
        .fetch_optional(conn)
        .await?;
        Ok(stands.is_some())
    }

    pub(super) async fn advance(
        &self,
        conn: &mut PgConnection,
        added: i64,
        existing: i64,
        full: bool,
    ) -> Result<(), sqlx::Error> {
        let state = match (full, self.last) {
            (true, _) => State::Failed,
            (false, true) => State::Finished,
            (false, false) => State::Running,
        };
        sqlx::query!(
            "
            update hash_imports
            set
                next_chunk = next_chunk + 1,
                lines = lines + $2,
                added = added + $3,
                existing = existing + $4,
                refused = refused + $5,
                state = $6,
                ended_at = case when $6 <> 'running' then clock_timestamp() end,
                error = $7
            where id = $1
            ",
            self.import.as_uuid(),
            self.lines,
            added,
            existing,
            i64::try_from(self.refused.len()).unwrap_or(i64::MAX),
            state.as_str(),
            full.then_some("there are as many entries as there may be"),
        )
        .execute(&mut *conn)
        .await?;
        if full {
            drop_chunks(conn, self.import).await?;
        }
        Ok(())
    }

    pub(super) async fn list_refusals(&self, conn: &mut PgConnection) -> Result<(), sqlx::Error> {
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

    pub(super) async fn drop_chunk(&self, conn: &mut PgConnection) -> Result<(), sqlx::Error> {
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
