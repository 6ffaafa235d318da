//! The first phase: items are emptied.

use std::collections::HashSet;

use domain::{
    author::Author,
    erasure::Counts,
    id::{ErasureId, MediaId, SiteId},
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Tally;
use crate::legal_hold;

/// Items of a site to empty.
#[derive(Debug)]
pub(super) struct Removal {
    pub(super) site: SiteId,
    /// The author whose items they are, if they were chosen so.
    pub(super) author: Option<Author>,
    /// In the order of their ids.
    pub(super) items: Vec<Uuid>,
    /// Up to this item all were looked at; none: all of the site.
    pub(super) to: Option<Uuid>,
}

/// What is removed with items, or emptied, and where that is counted. `$1` are the ids of the items.
const STATEMENTS: [(&str, Option<Count>); 13] = [
    (
        "delete from media_images where media_id = any($1)",
        Some(|counts| &mut counts.images),
    ),
    (
        "delete from analyses where media_id = any($1)",
        Some(|counts| &mut counts.analyses),
    ),
    (
        "delete from analysis_parts where media_id = any($1)",
        Some(|counts| &mut counts.analyses),
    ),
    (
        "delete from analysis_image_parts where media_id = any($1)",
        Some(|counts| &mut counts.analyses),
    ),
    (
        "delete from analysis_pieces where media_id = any($1)",
        Some(|counts| &mut counts.analyses),
    ),
    (
        "delete from image_matches where media_id = any($1)",
        Some(|counts| &mut counts.hash_matches),
    ),
    ("delete from golden_items where media_id = any($1)", None),
    (
        "delete from review_tasks where media_id = any($1)",
        Some(|counts| &mut counts.reviews),
    ),
    ("delete from reviews where media_id = any($1)", None),
    (
        "delete from review_notes where media_id = any($1)",
        Some(|counts| &mut counts.notes),
    ),
    // Reports count opinions, so they stay.
    (
        "update review_opinions
         set reason = 'erased', outcome = case when outcome = 'waits' then 'superseded' else outcome end
         where media_id = any($1) and (reason <> 'erased' or outcome = 'waits')",
        Some(|counts| &mut counts.opinions),
    ),
    // The names of rules, and what they say of themselves, are the team's words and stay. What they matched goes, and what a person
    // wrote.
    (
        r#"update verdicts v
         set
             details = case
                 when v.details::jsonb ? 'reason' then e.details || '{"reason": "erased"}'
                 else e.details
             end,
             trace = v.trace::jsonb - 'unchecked'
         from (
             select
                 o.media_id,
                 o.number,
                 case
                     when jsonb_typeof(o.details::jsonb -> 'rule_violations') = 'array' then jsonb_set(
                         o.details::jsonb, '{rule_violations}',
                         (
                             select coalesce(jsonb_agg(r.violation - 'matched_text' order by r.place), '[]')
                             from jsonb_array_elements(o.details::jsonb -> 'rule_violations')
                             with ordinality r(violation, place)
                         )
                     )
                     else o.details::jsonb
                 end as details
             from verdicts o
             where o.media_id = any($1)
         ) e
         where v.media_id = e.media_id and v.number = e.number"#,
        Some(|counts| &mut counts.verdicts),
    ),
    // Their errors may quote what was submitted.
    (
        "delete from queue.dead_jobs where payload ->> 'media' = any($1::text [])",
        Some(|counts| &mut counts.dead_jobs),
    ),
];

type Count = fn(&mut Counts) -> &mut i64;

struct Locked {
    id: Uuid,
    has_verdict: bool,
}

impl Removal {
    /// Empties the items. The row of the erasure is locked. Tells whether somebody else has locked an
    /// item, so that the walk goes on from there.
    pub(super) async fn apply(
        &self,
        conn: &mut PgConnection,
        erasure: ErasureId,
    ) -> Result<bool, sqlx::Error> {
        let locked = self.lock(conn).await?;
        // Items are counted in their order, so the walk goes on from the first one that somebody else has locked.
        let free = self
            .items
            .iter()
            .zip(&locked)
            .take_while(|(item, locked)| **item == locked.id)
            .count();
        let mut items = locked;
        items.truncate(free);
        let is_held_up = free < self.items.len();
        let last = items.last().map(|item| item.id);
        let mut tally = Tally::load(conn, erasure).await?;
        self.leave_held(conn, &mut items, &mut tally).await?;
        let ids: Vec<Uuid> = items.iter().map(|item| item.id).collect();
        if !ids.is_empty() {
            self.empty(conn, erasure, &items, &ids, &mut tally).await?;
        }
        tally.store(conn, erasure).await?;
        let to = if is_held_up {
            Some(last.unwrap_or(self.before_first()))
        } else {
            self.to
        };
        sqlx::query!(
            "update erasures set walk_site = $2, walk_item = $3 where id = $1",
            erasure.as_uuid(),
            self.site.as_uuid(),
            to,
        )
        .execute(&mut *conn)
        .await?;
        Ok(is_held_up)
    }

    /// Leaves out items that a legal hold keeps.
    async fn leave_held(
        &self,
        conn: &mut PgConnection,
        items: &mut Vec<Locked>,
        tally: &mut Tally,
    ) -> Result<(), sqlx::Error> {
        let ids: Vec<Uuid> = items.iter().map(|item| item.id).collect();
        let held: HashSet<Uuid> = legal_hold::held(conn, &ids).await?.into_iter().collect();
        items.retain(|item| !held.contains(&item.id));
        tally.counts.held += i64::try_from(held.len()).unwrap_or(0);
        Ok(())
    }

    /// The greatest id before the first item.
    fn before_first(&self) -> Uuid {
        let first = self.items.first().map_or(0, Uuid::as_u128);
        Uuid::from_u128(first.saturating_sub(1))
    }

    /// Those of the items that nobody else has locked, in the order of their ids.
    async fn lock(&self, conn: &mut PgConnection) -> Result<Vec<Locked>, sqlx::Error> {
        sqlx::query_as!(
            Locked,
            r#"
            select id, verdict is not null as "has_verdict!"
            from media
            where id = any($1)
            order by id
            for update skip locked
            "#,
            &self.items,
        )
        .fetch_all(conn)
        .await
    }

    async fn empty(
        &self,
        conn: &mut PgConnection,
        erasure: ErasureId,
        items: &[Locked],
        ids: &[Uuid],
        tally: &mut Tally,
    ) -> Result<(), sqlx::Error> {
        for (statement, count) in STATEMENTS {
            let changed = sqlx::query(statement).bind(ids).execute(&mut *conn).await?;
            if let Some(count) = count {
                *count(&mut tally.counts) += i64::try_from(changed.rows_affected()).unwrap_or(0);
            }
        }
        tally.counts.idempotency_keys += forget_keys(conn, self.site, ids).await?;
        if let Some(author) = &self.author {
            forget_author(conn, ids, author).await?;
        }
        sqlx::query!(
            "
            update media
            set
                body = null, content_url = null, metadata = null, author = null, app_media_id = null, traceparent = null,
                status = case when verdict is null then 'rejected' else status end,
                content_removed_at = coalesce(content_removed_at, now()), erased_at = now()
            where id = any($1)
            ",
            ids,
        )
        .execute(&mut *conn)
        .await?;
        sqlx::query!(
            "insert into erased_items (erasure_id, media_id) select $1, id from unnest($2::uuid []) id on conflict do nothing",
            erasure.as_uuid(),
            ids,
        )
        .execute(&mut *conn)
        .await?;
        for item in items {
            tally.digest = tally.digest.with(MediaId::from(item.id));
        }
        let without_verdict = items.iter().filter(|item| !item.has_verdict).count();
        tally.counts.items += i64::try_from(items.len()).unwrap_or(0);
        tally.counts.without_verdict += i64::try_from(without_verdict).unwrap_or(0);
        Ok(())
    }
}

/// Keys are kept for a day and dated by the transaction that stored their item. Their table has no index of items, so either the rows
/// of that time are read, or those of the site, whichever are fewer.
async fn forget_keys(
    conn: &mut PgConnection,
    site: SiteId,
    items: &[Uuid],
) -> Result<i64, sqlx::Error> {
    let times = sqlx::query!(
        r#"
        select min(created_at) - interval '1 minute' as since, max(created_at) + interval '1 minute' as until
        from media
        where id = any($1) and created_at > now() - interval '2 days'
        "#,
        items,
    )
    .fetch_one(&mut *conn)
    .await?;
    let (Some(since), Some(until)) = (times.since, times.until) else {
        return Ok(0);
    };
    let forgotten = sqlx::query!(
        "
        delete from idempotency_keys
        where site_id = $4 and created_at between $2 and $3 and media_id = any($1)
        ",
        items,
        since,
        until,
        site.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(i64::try_from(forgotten.rows_affected()).unwrap_or(0))
}

/// Filters of bulk decisions may name the author, and so may legal holds that were lifted.
async fn forget_author(
    conn: &mut PgConnection,
    items: &[Uuid],
    author: &Author,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        update bulk_decisions b
        set filter = jsonb_set(b.filter::jsonb, '{author}', '"erased"')
        where
            b.team_id = (select m.team_id from media m where m.id = ($1::uuid [])[1])
            and b.filter ->> 'author' = $2
        "#,
        items,
        author.as_str(),
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "
        update legal_holds h
        set author = 'erased'
        where
            h.team_id = (select m.team_id from media m where m.id = ($1::uuid [])[1])
            and h.author = $2 and h.lifted_at is not null
        ",
        items,
        author.as_str(),
    )
    .execute(conn)
    .await?;
    Ok(())
}
