//! Backtests: replay rules over stored items, see what would change, cancel.

use chrono::{DateTime, Utc};
use domain::{
    audit::Action,
    backtest::Count,
    bounded_integer::BoundedInteger,
    id::{BacktestId, GroupVersionId, RuleGroupId, SiteId},
    reach::Reach,
    scope::Scope,
};
use serde_json::json;
pub use store::backtest::{Backtest, Change};
use store::{backtest, page::Page, site::settings};

use super::{drafts::draft, find, named_version, require_rule_bytes};
use crate::{Caller, Conflict, Noun, Refused, Session, boxed, created, record};

/// The most items that a backtest looks at.
pub type Items = BoundedInteger<1, 100_000>;

/// How many items a backtest looks at by default.
const DEFAULT_ITEMS: i64 = 10_000;

/// What to replay.
#[derive(Debug, Default)]
pub struct NewBacktest {
    /// A version of the group. `None`: the draft as it is now.
    pub version: Option<GroupVersionId>,
    /// Only items of this site. The group judges all of them, even if it was not attached. Without a site, it judges the
    /// items of the team's sites that it has judged before.
    pub site: Option<SiteId>,
    /// Only items accepted at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Only items accepted before this time. `None`: before now.
    pub until: Option<DateTime<Utc>>,
    /// The most items to look at, the newest first. `None`: 10,000.
    pub limit: Option<Items>,
}

/// A backtest with its findings.
#[derive(Debug)]
pub struct BacktestReport {
    /// The backtest.
    pub backtest: Backtest,
    /// How many items got which status, and which one they would get.
    pub counts: Vec<Count>,
}

/// A group's backtests, the latest first.
///
/// # Errors
/// The caller may not do it; there is no such group within reach.
#[boxed]
pub async fn list(
    caller: &Caller,
    group: RuleGroupId,
    page: Page,
) -> Result<Vec<Backtest>, Refused> {
    let mut session = caller.read(Scope::RulesRead).await?;
    let group = find(&mut session, group).await?;
    Ok(backtest::list(session.conn(), group.id, page).await?)
}

/// Starts a backtest. A team can run one backtest at a time.
///
/// # Errors
/// The caller may not do it; there is no such group within reach; the team has no such site or the
/// group no such version; the rules do not compile any more; the team has a backtest that has not
/// ended, or has reached its limit of rules stored in a day.
#[boxed]
pub async fn create(
    caller: &Caller,
    group: RuleGroupId,
    new: NewBacktest,
) -> Result<Backtest, Refused> {
    let mut session = caller.read(Scope::RulesWrite).await?;
    let group = find(&mut session, group).await?;
    if let Some(site) = new.site {
        let team = Reach::Team(group.team);
        let found = settings::find(session.conn(), team, site).await?;
        found.ok_or_else(|| Refused::field("site_id", "is no site of the team"))?;
    }
    let rules = match new.version {
        Some(version) => {
            let version = named_version(&mut session, group.id, version, "version_id").await?;
            version.rules
        }
        None => draft(&mut session, group.id).await?.rules,
    };
    session.end();
    let compiled = caller
        .management
        .trial_pool
        .check(Some(group.team), rules)
        .await?;

    let mut session = caller.change(Scope::RulesWrite).await?;
    let group = find(&mut session, group.id).await?;
    require_rule_bytes(&caller.management, &mut session, group.team).await?;
    let wanted = backtest::NewBacktest {
        team: group.team,
        group: group.id,
        version: new.version,
        rules: &compiled.rules,
        site: new.site,
        since: new.since,
        until: new.until,
        limit: new.limit.map_or(DEFAULT_ITEMS, BoundedInteger::get),
        by: session.actor(),
    };
    let started = backtest::create(session.conn(), wanted).await?;
    let (id, jobs) = started.ok_or_else(|| {
        Refused::conflict(
            Conflict::BacktestRunning,
            "The team has a backtest that has not ended: wait for it, or cancel it.",
        )
    })?;
    let backtest = find_backtest(&mut session, id).await?;
    let (action, details) = (Action::BacktestCreate, created(&backtest));
    record(session, action, group.team, group.id, details).await?;
    caller.management.queue.enqueued(&jobs);
    Ok(backtest)
}

/// How far a backtest has got, and what it has found so far.
///
/// # Errors
/// The caller may not do it; there is no such backtest within reach.
#[boxed]
pub async fn get(caller: &Caller, backtest: BacktestId) -> Result<BacktestReport, Refused> {
    let mut session = caller.read(Scope::RulesRead).await?;
    let backtest = find_backtest(&mut session, backtest).await?;
    let counts = backtest::counts(session.conn(), backtest.id).await?;
    Ok(BacktestReport { backtest, counts })
}

/// The items that would get another status, the newest first.
///
/// # Errors
/// The caller may not do it; there is no such backtest within reach.
#[boxed]
pub async fn changes(
    caller: &Caller,
    backtest: BacktestId,
    page: Page,
) -> Result<Vec<Change>, Refused> {
    let mut session = caller.read(Scope::RulesRead).await?;
    let backtest = find_backtest(&mut session, backtest).await?;
    Ok(backtest::changes(session.conn(), backtest.id, page).await?)
}

/// Cancels a backtest. Its findings are kept. A backtest that has ended stays as it is.
///
/// # Errors
/// The caller may not do it; there is no such backtest within reach.
#[boxed]
pub async fn cancel(caller: &Caller, backtest: BacktestId) -> Result<Backtest, Refused> {
    let mut session = caller.change(Scope::RulesWrite).await?;
    let before = find_backtest(&mut session, backtest).await?;
    if !backtest::cancel(session.conn(), before.id).await? {
        return Ok(before);
    }
    let after = find_backtest(&mut session, before.id).await?;
    let details = json!({ "cancelled": after });
    let (action, team) = (Action::BacktestCancel, after.team);
    record(session, action, team, after.group, details).await?;
    Ok(after)
}

/// A backtest within the caller's reach.
async fn find_backtest(session: &mut Session, backtest: BacktestId) -> Result<Backtest, Refused> {
    let reach = session.reach();
    let backtest = backtest::find(session.conn(), reach, backtest).await?;
    backtest.ok_or(Refused::NotFound(Noun::Backtest))
}
