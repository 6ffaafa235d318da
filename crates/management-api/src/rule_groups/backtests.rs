//! Backtests: replay rules over stored items, see what would change, cancel.

mod openapi;
mod report;
mod schemas;

use std::sync::Arc;

use api_common::{
    body::JsonBody,
    path_parameters::Path,
    problem::Refusal,
    query_parameters::Query,
    response::{Accepted, Json},
};
use domain::id::{BacktestId, RuleGroupId};
use management::{Management, rule_groups::backtests};
use poem::web::Data;
use poem_openapi::OpenApi;

use self::report::{Backtest, BacktestChangeEntry, BacktestReport};
use crate::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};

pub(super) use openapi::descriptions;
pub(crate) use schemas::NewBacktest;

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
        management: Data<&Arc<Management>>,
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
        let backtests = backtests::list(&management, &caller, group, part.page()).await?;
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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<NewBacktest>,
    ) -> Result<Accepted<Backtest>, Refusal> {
        let (group, new) = (rule_group_id.0, request.value.into());
        let backtest = backtests::create(&management, &caller, group, new).await?;
        Ok(Accepted {
            location: format!("{PREFIX}/backtests/{}", backtest.id),
            value: backtest.into(),
        })
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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The backtest.
        backtest_id: Path<BacktestId>,
    ) -> Result<Json<BacktestReport>, Refusal> {
        let report = backtests::get(&management, &caller, backtest_id.0).await?;
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
        management: Data<&Arc<Management>>,
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
        let changes = backtests::changes(&management, &caller, backtest, part.page()).await?;
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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The backtest.
        backtest_id: Path<BacktestId>,
    ) -> Result<Json<Backtest>, Refusal> {
        let backtest = backtests::cancel(&management, &caller, backtest_id.0).await?;
        Ok(Json(backtest.into()))
    }
}
