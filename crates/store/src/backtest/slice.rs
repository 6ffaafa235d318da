//! A slice of a backtest: what a job replays, and the effect of having replayed it.

mod next_items;
mod replayed;
mod store;

use std::sync::Arc;

use domain::{
    backtest::Decided,
    id::{BacktestId, GroupVersionId, MediaId, RuleGroupId, TeamId},
    media::Status,
    rules::Rule,
};
use sqlx::{PgPool, types::Json};

use self::next_items::{known, standing, walk};
pub use self::replayed::{Look, Replayed};
use crate::{
    Error,
    verdict::{self, ToJudge, Wanted},
};

/// Items of a slice. Each takes a few milliseconds at most, so a worker can stop soon.
pub const SLICE: i64 = 200;

/// The most changes of a backtest that are listed.
pub const LISTED: i64 = 10_000;

/// What is replayed.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The group that is tried.
    pub group: RuleGroupId,
    /// Its version; nil for a draft.
    pub version: GroupVersionId,
    /// The rules, which compiled when the backtest was created.
    pub rules: Vec<Rule>,
}

/// The rules of a backtest; none if there is no such backtest.
pub async fn rules(pool: &PgPool, backtest: BacktestId) -> Result<Option<Replay>, Error> {
    let row = sqlx::query!(
        r#"select rule_group_id, version_id, rules as "rules: Json<Vec<Rule>>" from backtests where id = $1"#,
        backtest.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    Ok(row.map(|row| Replay {
        group: row.rule_group_id.into(),
        version: row.version_id.unwrap_or_default().into(),
        rules: row.rules.0,
    }))
}

/// The next slice.
#[derive(Debug)]
pub struct Slice {
    /// The backtest.
    pub backtest: BacktestId,
    /// Its team, which is the lane of its jobs.
    pub team: TeamId,
    /// Whether the group also judges items that it did not judge before.
    pub joins: bool,
    /// How many more changes may be listed.
    pub room: usize,
    /// The items, the newest first.
    pub items: Vec<ToReplay>,
    /// Where it begins: after this item,
    from: Option<MediaId>,
    /// and where it ends: with this one.
    to: Option<MediaId>,
    /// Whether it is the last one.
    last: bool,
}

/// An item that is looked at.
#[derive(Debug)]
pub struct ToReplay {
    /// What it is judged by.
    pub item: Arc<ToJudge>,
    /// Whether the group judged it.
    pub of_group: bool,
    /// Whether it was analysed.
    pub analysed: bool,
    /// What the machine said; none while it is pending.
    pub old: Option<Status>,
    /// What people decided.
    pub decided: Decided,
}

/// Loads the next slice; none if the backtest has ended.
pub async fn next(pool: &PgPool, backtest: BacktestId) -> Result<Option<Slice>, Error> {
    let Some(standing) = standing(pool, backtest).await? else {
        return Ok(None);
    };
    let left = standing.limit.saturating_sub(standing.looked_at).max(0);
    let wanted = left.min(SLICE);
    let walked = walk(pool, &standing, wanted).await?;
    let last = i64::try_from(walked.len()).unwrap_or(i64::MAX) < wanted || left <= SLICE;
    let media: Vec<MediaId> = walked.iter().copied().map(MediaId::from).collect();
    let mut judged_by = verdict::load(pool, &media, Wanted::All).await?;
    let mut items = Vec::with_capacity(walked.len());
    for known in known(pool, &walked, standing.group).await? {
        let Some(item) = judged_by.remove(&MediaId::from(known.id)) else {
            continue;
        };
        items.push(ToReplay {
            item: Arc::new(item),
            of_group: known.of_group,
            analysed: known.analysed,
            old: known.old.map(|status| status.parse()).transpose()?,
            decided: match known.decided.as_deref() {
                None => Decided::Nobody,
                Some(status) => status.parse()?,
            },
        });
    }
    Ok(Some(Slice {
        backtest,
        team: standing.team,
        joins: standing.site.is_some(),
        room: usize::try_from(LISTED - standing.listed).unwrap_or(0),
        items,
        from: standing.walked_to,
        to: media.last().copied().or(standing.walked_to),
        last,
    }))
}
