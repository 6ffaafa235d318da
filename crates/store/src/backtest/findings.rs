//! What a backtest has found so far: numbers of items, and the items whose verdict would change.

use domain::{
    backtest::{Count, Decided},
    id::{BacktestId, MediaId, RuleId},
    media::Status,
};
use sqlx::PgConnection;

use crate::{Error, page::Page};

/// An item whose verdict would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The item.
    pub media: MediaId,
    /// What the machine said at the time.
    pub old: Status,
    /// What it would say.
    pub new: Status,
    /// What people decided.
    pub decided: Decided,
    /// The rules that the item would violate, as far as they are listed.
    pub rules: Vec<RuleId>,
}

/// The results for the items that were judged.
pub async fn counts(conn: &mut PgConnection, backtest: BacktestId) -> Result<Vec<Count>, Error> {
    let rows = sqlx::query!(
        "
        select old_status, new_status, decided, items
        from backtest_counts
        where backtest_id = $1
        order by old_status, new_status, decided
        ",
        backtest.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Count {
                old: row.old_status.parse()?,
                new: row.new_status.parse()?,
                decided: row.decided.parse()?,
                items: u64::try_from(row.items).unwrap_or(0),
            })
        })
        .collect()
}

/// The items whose verdict would change, the newest first.
pub async fn changes(
    conn: &mut PgConnection,
    backtest: BacktestId,
    page: Page,
) -> Result<Vec<Change>, Error> {
    let rows = sqlx::query!(
        "
        select media_id, old_status, new_status, decided, rule_ids
        from backtest_changes
        where backtest_id = $1 and ($2::uuid is null or media_id < $2)
        order by media_id desc
        limit $3
        ",
        backtest.as_uuid(),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Change {
                media: row.media_id.into(),
                old: row.old_status.parse()?,
                new: row.new_status.parse()?,
                decided: row.decided.parse()?,
                rules: row.rule_ids.into_iter().map(RuleId::from).collect(),
            })
        })
        .collect()
}
