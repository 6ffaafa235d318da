//! Backtests: replay rules over stored items, see what would change, stop.

mod report;

use std::sync::Arc;

use domain::{
    audit::Action,
    id::{BacktestId, GroupVersionId, RuleGroupId, SiteId},
    scope::Scope,
    whole::Whole,
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::Deserialize;
use serde_json::json;
use store::{
    backtest::{self, NewBacktest as Wanted},
    rule_group, site,
};

use self::report::{Backtest, BacktestChangeEntry, BacktestReport};
use super::{draft::draft, find, record, room, unknown_version};
use crate::{
    answer::{Accepted, Json},
    management::{
        Management, PREFIX, Tag,
        document::{Operation, example},
        list::{After, Limit, List, Part},
        session::{Caller, Session},
    },
    member::{Member, Time, given},
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    query::Query,
};

/// How many items a backtest looks at, at most.
type Items = Whole<1, 100_000>;

/// How many it looks at when nothing is said.
const DEFAULT_ITEMS: i64 = 10_000;

/// What is to be replayed.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct NewBacktest {
    /// A version of the group. Without, it is the draft as it is now.
    #[serde(default, deserialize_with = "given")]
    version_id: Option<Member<GroupVersionId>>,
    /// Only items of this site; the group judges them even where it did not, as if it had been attached. Without, items of all
    /// sites of the team that the group has judged.
    #[serde(default, deserialize_with = "given")]
    site_id: Option<Member<SiteId>>,
    /// Only items accepted at this time or later.
    #[serde(default, deserialize_with = "given")]
    since: Option<Member<Time>>,
    /// Only items accepted before this time; before now if nothing is said.
    #[serde(default, deserialize_with = "given")]
    until: Option<Member<Time>>,
    /// How many items are looked at, at most, the newest first; 10,000 if nothing is said.
    #[serde(default, deserialize_with = "given")]
    limit: Option<Member<Items>>,
}

pub(crate) struct Backtests;

#[OpenApi(tag = "Tag::Backtests")]
impl Backtests {
    /// List backtests of a rule group
    ///
    /// The latest first. They are kept for 90 days.
    #[oai(
        path = "/rule-groups/:rule_group_id/backtests",
        method = "get",
        operation_id = "listBacktests"
    )]
    async fn list_backtests(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<Backtest>>, Refusal> {
        let mut session = management.read(&caller, Scope::RulesRead).await?;
        let group = find(&mut session, rule_group_id.0).await?;
        let part = Part::new(&limit, &cursor);
        let backtests = backtest::list(session.conn(), group.id, part.page()).await?;
        Ok(Json(part.list(backtests, |backtest| backtest.id.as_uuid())))
    }

    /// Start a backtest
    ///
    /// Items that were judged before are judged again, by these rules in the place of the group's and by all other groups as
    /// they were, with their stored texts and scores. Nothing is sent, and no verdict changes. A team has one at a time.
    #[oai(
        path = "/rule-groups/:rule_group_id/backtests",
        method = "post",
        operation_id = "createBacktest"
    )]
    async fn create_backtest(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<NewBacktest>,
    ) -> Result<Accepted<Backtest>, Refusal> {
        let new = request.value;
        let mut session = management.read(&caller, Scope::RulesWrite).await?;
        let group = find(&mut session, rule_group_id.0).await?;
        let site = new.site_id.map(|site| site.0);
        if let Some(site) = site {
            let team = domain::reach::Reach::Team(group.team);
            let found = site::settings::find(session.conn(), team, site).await?;
            found.ok_or_else(|| Refusal::invalid_field("site_id", "is no site of the team"))?;
        }
        let version = new.version_id.map(|version| version.0);
        let rules = match version {
            Some(version) => {
                let found = rule_group::version(session.conn(), group.id, version).await?;
                found.ok_or_else(|| unknown_version("version_id"))?.rules
            }
            None => draft(&mut session, group.id).await?.rules,
        };
        drop(session);
        let compiled = management.workbench.check(Some(group.team), rules).await?;

        let mut session = management.change(&caller, Scope::RulesWrite).await?;
        let group = find(&mut session, group.id).await?;
        room::require(&management, &mut session, group.team).await?;
        let wanted = Wanted {
            team: group.team,
            group: group.id,
            version,
            rules: &compiled.rules,
            site,
            since: new.since.map(|time| time.0.0),
            until: new.until.map(|time| time.0.0),
            limit: new.limit.map_or(DEFAULT_ITEMS, |limit| limit.0.get()),
            by: session.actor(),
        };
        let (id, jobs) = backtest::create(session.conn(), wanted).await?;
        let value = Backtest::from(of_caller(&mut session, id).await?);
        let details = json!({ "created": value });
        let action = Action::BacktestCreate;
        record(session, action, group.team, group.id, details).await?;
        management.queue.enqueued(&jobs);
        Ok(Accepted {
            location: format!("{PREFIX}/backtests/{id}"),
            value,
        })
    }

    /// Read a backtest
    ///
    /// How far it has got, and what it has found so far.
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
        let mut session = management.read(&caller, Scope::RulesRead).await?;
        let backtest = of_caller(&mut session, backtest_id.0).await?;
        let counts = backtest::counts(session.conn(), backtest.id).await?;
        Ok(Json(BacktestReport::new(backtest, &counts)))
    }

    /// List the items that would change
    ///
    /// The newest first, 10,000 at most. They are kept for 30 days after the end of the backtest, unless the operator sets another time.
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
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<BacktestChangeEntry>>, Refusal> {
        let mut session = management.read(&caller, Scope::RulesRead).await?;
        let backtest = of_caller(&mut session, backtest_id.0).await?;
        let part = Part::new(&limit, &cursor);
        let changes = backtest::changes(session.conn(), backtest.id, part.page()).await?;
        Ok(Json(part.list(changes, |change| change.media.as_uuid())))
    }

    /// Cancel a backtest
    ///
    /// What it has found is kept. One that has ended stays as it is.
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
        let mut session = management.change(&caller, Scope::RulesWrite).await?;
        let backtest = of_caller(&mut session, backtest_id.0).await?;
        let (team, group) = (backtest.team, backtest.group);
        if !backtest::cancel(session.conn(), backtest.id).await? {
            return Ok(Json(backtest.into()));
        }
        let value = Backtest::from(of_caller(&mut session, backtest_id.0).await?);
        let details = json!({ "cancelled": value });
        record(session, Action::BacktestCancel, team, group, details).await?;
        Ok(Json(value))
    }
}

/// A backtest that the caller may know of.
async fn of_caller(
    session: &mut Session,
    backtest: BacktestId,
) -> Result<backtest::Backtest, Refusal> {
    let of = session.only_team();
    let backtest = backtest::find(session.conn(), of, backtest).await?;
    backtest.ok_or_else(|| Refusal::not_found("backtest"))
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let backtest = report::example();
    vec![
        Operation {
            answer: Some(example::list(&backtest)),
            ..Operation::new("listBacktests", Scope::RulesRead)
        },
        Operation {
            problems: &[Code::BacktestRunning, Code::LimitReached],
            request: Some(json!({
                "site_id": example::SITE,
                "since": "2026-01-01T00:00:00Z",
                "limit": 1_000,
            })),
            answer: Some(backtest.clone()),
            ..Operation::new("createBacktest", Scope::RulesWrite)
        },
        Operation {
            answer: Some(report::full_example()),
            ..Operation::new("getBacktest", Scope::RulesRead)
        },
        Operation {
            answer: Some(example::list(&report::change_example())),
            ..Operation::new("listBacktestChanges", Scope::RulesRead)
        },
        Operation {
            answer: Some(backtest),
            ..Operation::new("cancelBacktest", Scope::RulesWrite)
        },
    ]
}
