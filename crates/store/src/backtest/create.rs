//! Starting a backtest: its row, and the job of its first slice.

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    id::{BacktestId, GroupVersionId, RuleGroupId, SiteId, TeamId},
    rules::Rule,
};
use queue::NewJobs;
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use crate::{Error, chain, id_time::ids_within, jobs};

/// A backtest to run.
#[derive(Clone, Copy, Debug)]
pub struct NewBacktest<'a> {
    /// Whose items.
    pub team: TeamId,
    /// The group that is tried; one of the team's.
    pub group: RuleGroupId,
    /// The version of it; none: the draft.
    pub version: Option<GroupVersionId>,
    /// The rules, which compile.
    pub rules: &'a [Rule],
    /// Only items of this site, of the team's. The group judges all of them.
    pub site: Option<SiteId>,
    /// Only items accepted at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Only items accepted before this time; none: before now.
    pub until: Option<DateTime<Utc>>,
    /// How many items are looked at, at most, the newest first.
    pub limit: i64,
    /// Who starts it.
    pub by: Actor,
}

/// Creates a backtest with its first job. Tell the queue of the job after the commit. None: the
/// team has a running backtest already. Run it in a transaction, and roll the transaction back if
/// the answer is none.
pub async fn create(
    conn: &mut PgConnection,
    new: NewBacktest<'_>,
) -> Result<Option<(BacktestId, NewJobs)>, Error> {
    let id = BacktestId::from(Uuid::now_v7());
    let (from, before) = ids_within(new.since, new.until);
    let inserted = sqlx::query!(
        "
        insert into backtests (
            id, team_id, rule_group_id, version_id, rules, site_id, since, until, item_limit, created_by, total
        )
        select
            $1, $2, $3, $4, $5, $6, $7, coalesce($8, now()), $9, $10,
            (
                select count(*)
                from (
                    select
                    from sites s
                    join media m on m.site_id = s.id
                    where
                        s.team_id = $2 and ($6::uuid is null or s.id = $6)
                        and m.id >= $11 and m.id < $12
                        and ($7::timestamptz is null or m.created_at >= $7)
                        and m.created_at < coalesce($8, now())
                    limit $9
                ) m
            )
        ",
        id.as_uuid(),
        new.team.as_uuid(),
        new.group.as_uuid(),
        new.version.map(GroupVersionId::as_uuid),
        Json(new.rules) as _,
        new.site.map(SiteId::as_uuid),
        new.since,
        new.until,
        new.limit,
        new.by.as_uuid(),
        from,
        before,
    )
    .execute(&mut *conn)
    .await;
    if !chain::is_inserted(inserted, "backtests_running_key")? {
        return Ok(None);
    }
    let jobs = chain::begin(conn, jobs::replay(id, new.team)).await?;
    Ok(Some((id, jobs)))
}
