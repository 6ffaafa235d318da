//! Which items come next in a backtest, and what is known of each of them.

use chrono::{DateTime, Utc};
use domain::id::BacktestId;
use sqlx::PgPool;
use uuid::Uuid;

use crate::{Error, id_time::ids_within};

/// How far a backtest has got.
pub(super) struct Standing {
    pub(super) team_id: Uuid,
    pub(super) rule_group_id: Uuid,
    pub(super) site_id: Option<Uuid>,
    pub(super) since: Option<DateTime<Utc>>,
    pub(super) until: DateTime<Utc>,
    pub(super) item_limit: i64,
    pub(super) looked_at: i64,
    pub(super) listed: i64,
    pub(super) walked_to: Option<Uuid>,
}

pub(super) async fn standing(
    pool: &PgPool,
    backtest: BacktestId,
) -> Result<Option<Standing>, sqlx::Error> {
    sqlx::query_as!(
        Standing,
        "
        select team_id, rule_group_id, site_id, since, until, item_limit, looked_at, listed, walked_to
        from backtests
        where id = $1 and state = 'running'
        ",
        backtest.as_uuid(),
    )
    .fetch_optional(pool)
    .await
}

/// The next items of the team's sites, or of the one that is wanted.
pub(super) async fn walk(
    pool: &PgPool,
    standing: &Standing,
    items: i64,
) -> Result<Vec<Uuid>, Error> {
    let (from, before) = ids_within(standing.since, Some(standing.until));
    let before = standing
        .walked_to
        .map_or(before, |walked| walked.min(before));
    let walked = sqlx::query_scalar!(
        r#"
        select w.id as "id!"
        from sites s
        cross join lateral (
            select m.id
            from media m
            where
                m.site_id = s.id and m.id >= $3 and m.id < $4
                and ($5::timestamptz is null or m.created_at >= $5)
                and m.created_at < $6
            order by m.id desc
            limit $7
        ) w
        where s.team_id = $1 and ($2::uuid is null or s.id = $2)
        order by w.id desc
        limit $7
        "#,
        standing.team_id,
        standing.site_id,
        from,
        before,
        standing.since,
        standing.until,
        items,
    )
    .fetch_all(pool)
    .await?;
    Ok(walked)
}

pub(super) struct Known {
    pub(super) id: Uuid,
    pub(super) of_group: bool,
    pub(super) analysed: bool,
    pub(super) old: Option<String>,
    pub(super) decided: Option<String>,
}

/// What else is known of items, the newest first.
pub(super) async fn known(
    pool: &PgPool,
    media: &[Uuid],
    group: Uuid,
) -> Result<Vec<Known>, sqlx::Error> {
    sqlx::query_as!(
        Known,
        r#"
        select
            m.id,
            m.group_versions && array(select id from rule_group_versions where rule_group_id = $2) as "of_group!",
            exists (select from analyses a where a.media_id = m.id) as "analysed!",
            (select v.status from verdicts v where v.media_id = m.id and v.number = 1) as old,
            (
                select v.status
                from verdicts v
                where v.media_id = m.id and v.moderation_type = 'manual'
                order by v.number desc
                limit 1
            ) as decided
        from media m
        where m.id = any($1)
        order by m.id desc
        "#,
        media,
        group,
    )
    .fetch_all(pool)
    .await
}
