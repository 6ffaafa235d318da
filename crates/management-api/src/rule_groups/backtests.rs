//! Backtests: replay rules over stored items, see what would change, cancel.

mod report;

use api_common::{
    Accepted, Code, Field, Json, JsonBody, Path, Query, Refusal, Schema, Time, given,
};
use domain::{
    id::{BacktestId, GroupVersionId, RuleGroupId, SiteId},
    scope::Scope,
};
use management::rule_groups::backtests::{self, Items};
use poem_openapi::OpenApi;
use serde::Deserialize;
use serde_json::json;

use self::report::{Backtest, BacktestChangeEntry, BacktestReport};
use crate::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct Backtests;

#[OpenApi(tag = "Tag::Backtests")]
impl Backtests {
    /// List backtests of a rule group
    ///
    /// Returns the latest backtests first. They are kept for 90 days.
    #[oai(
        path = "/rule-groups/:rule_group_id/backtests",
        method = "get",
        operation_id = "listBacktests"
    )]
    async fn list_backtests(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<Backtest>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let group = rule_group_id.0;
        let backtests = backtests::list(&caller, group, part.page()).await?;
        Ok(Json(part.list(backtests, |backtest| backtest.id.as_uuid())))
    }

    /// Start a backtest
    ///
    /// Judges items again that were judged before, with their stored texts and scores: by these rules instead of the group's,
    /// and by all other groups as they were. Nothing is sent, and no verdict changes. A team can run one backtest at a time.
    #[oai(
        path = "/rule-groups/:rule_group_id/backtests",
        method = "post",
        operation_id = "createBacktest"
    )]
    async fn create_backtest(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<NewBacktest>,
    ) -> Result<Accepted<Backtest>, Refusal> {
        let (group, new) = (rule_group_id.0, request.value.into());
        let backtest = backtests::create(&caller, group, new).await?;
        Ok(Accepted::at(
            format!("{PREFIX}/backtests/{}", backtest.id),
            backtest,
        ))
    }

    /// Read a backtest
    ///
    /// Shows its progress, and what it has found so far.
    #[oai(
        path = "/backtests/:backtest_id",
        method = "get",
        operation_id = "getBacktest"
    )]
    async fn get_backtest(
        &self,
        caller: Caller,
        /// The backtest.
        backtest_id: Path<BacktestId>,
    ) -> Result<Json<BacktestReport>, Refusal> {
        let report = backtests::get(&caller, backtest_id.0).await?;
        Ok(Json(report.into()))
    }

    /// List the items that would change
    ///
    /// Returns the newest items first, 10,000 at most. They are kept for 30 days after the end of the backtest, unless the
    /// operator sets another time.
    #[oai(
        path = "/backtests/:backtest_id/changes",
        method = "get",
        operation_id = "listBacktestChanges"
    )]
    async fn list_backtest_changes(
        &self,
        caller: Caller,
        /// The backtest.
        backtest_id: Path<BacktestId>,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<BacktestChangeEntry>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let backtest = backtest_id.0;
        let changes = backtests::changes(&caller, backtest, part.page()).await?;
        Ok(Json(part.list(changes, |change| change.media.as_uuid())))
    }

    /// Cancel a backtest
    ///
    /// What it has found is kept. A backtest that has ended stays as it is.
    #[oai(
        path = "/backtests/:backtest_id/cancel",
        method = "post",
        operation_id = "cancelBacktest"
    )]
    async fn cancel_backtest(
        &self,
        caller: Caller,
        /// The backtest.
        backtest_id: Path<BacktestId>,
    ) -> Result<Json<Backtest>, Refusal> {
        let backtest = backtests::cancel(&caller, backtest_id.0).await?;
        Ok(Json(backtest.into()))
    }
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let backtest = report::example();
    vec![
        Operation::new("listBacktests", Scope::RulesRead).answer(example_values::list(&backtest)),
        Operation::new("createBacktest", Scope::RulesWrite)
            .problems(&[Code::BacktestRunning, Code::LimitReached])
            .request(json!({
                "site_id": example_values::SITE,
                "since": "2026-01-01T00:00:00Z",
                "limit": 1_000,
            }))
            .answer(backtest.clone()),
        Operation::new("getBacktest", Scope::RulesRead).answer(report::full_example()),
        Operation::new("listBacktestChanges", Scope::RulesRead)
            .answer(example_values::list(&report::change_example())),
        Operation::new("cancelBacktest", Scope::RulesWrite).answer(backtest),
    ]
}

/// A backtest to start.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewBacktest {
    /// A version of the group. If omitted, it is the draft as it is now.
    #[serde(default, deserialize_with = "given")]
    version_id: Option<Field<GroupVersionId>>,
    /// Only items of this site. The group judges all of them, as if it had been attached to the site. If omitted, it judges
    /// the items of all sites of the team that it has judged before.
    #[serde(default, deserialize_with = "given")]
    site_id: Option<Field<SiteId>>,
    /// Only items accepted at this time or later.
    #[serde(default, deserialize_with = "given")]
    since: Option<Field<Time>>,
    /// Only items accepted before this time. The default is now.
    #[serde(default, deserialize_with = "given")]
    until: Option<Field<Time>>,
    /// The most items to look at, the newest first. The default is 10,000.
    #[serde(default, deserialize_with = "given")]
    limit: Option<Field<Items>>,
}

impl From<NewBacktest> for backtests::NewBacktest {
    fn from(new: NewBacktest) -> Self {
        Self {
            version: new.version_id.map(|version| version.0),
            site: new.site_id.map(|site| site.0),
            since: new.since.map(|time| time.0.0),
            until: new.until.map(|time| time.0.0),
            limit: new.limit.map(|limit| limit.0),
        }
    }
}
