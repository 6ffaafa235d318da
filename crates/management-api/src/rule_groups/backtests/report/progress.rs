//! A backtest in answers: its settings and its progress.

use api_common::field::{Field, Time};
use domain::{
    chain::State,
    id::{ActorId, GroupVersionId, SiteId},
};
use poem_openapi::Object;
use serde::Serialize;
use store::backtest;
use uuid::Uuid;

/// A replay of rules over items that were judged before.
#[derive(Serialize, Object)]
pub(crate) struct Backtest {
    /// The ID of the backtest.
    id: Uuid,
    /// The team whose items are replayed.
    team_id: Uuid,
    /// The group that is tried.
    rule_group_id: Uuid,
    /// The version of the group. `null` means the draft as it was.
    #[oai(nullable)]
    version_id: Option<Uuid>,
    /// The site whose items are replayed. `null` means all sites of the team.
    #[oai(nullable)]
    site_id: Option<Uuid>,
    /// Only items accepted at this time or later. `null` means no limit.
    #[oai(nullable)]
    since: Option<Field<Time>>,
    /// Only items accepted before this time.
    until: Field<Time>,
    /// The state of the backtest.
    state: Field<State>,
    /// How many items it will look at.
    total: i64,
    /// How many items it has looked at: the sum of the next five numbers.
    looked_at: i64,
    /// Items that were judged again.
    judged: i64,
    /// Items that the group does not judge.
    of_other_groups: i64,
    /// Items that have no verdict yet.
    undecided: i64,
    /// Items whose content is not stored any more, so that nothing can be judged.
    without_content: i64,
    /// Items that were never analysed, although the rules ask for scores.
    without_scores: i64,
    /// Of the items that were judged again, those that would get another status.
    changed: i64,
    /// Why it failed. `null` if it has not failed.
    #[oai(nullable)]
    error: Option<String>,
    /// The token that started it.
    #[oai(nullable)]
    created_by: Option<Uuid>,
    /// When it was started.
    created_at: Field<Time>,
    /// When it ended. `null` while it runs.
    #[oai(nullable)]
    ended_at: Option<Field<Time>>,
}

impl From<backtest::Backtest> for Backtest {
    fn from(backtest: backtest::Backtest) -> Self {
        Self {
            id: backtest.id.as_uuid(),
            team_id: backtest.team.as_uuid(),
            rule_group_id: backtest.group.as_uuid(),
            version_id: backtest.version.map(GroupVersionId::as_uuid),
            site_id: backtest.site.map(SiteId::as_uuid),
            since: backtest.since.map(Field::from),
            until: backtest.until.into(),
            state: Field(backtest.state),
            total: backtest.total,
            looked_at: backtest.looked_at,
            judged: backtest.judged,
            of_other_groups: backtest.of_other_groups,
            undecided: backtest.undecided,
            without_content: backtest.without_content,
            without_scores: backtest.without_scores,
            changed: backtest.changed,
            error: backtest.error,
            created_by: backtest.created_by.map(ActorId::as_uuid),
            created_at: backtest.created_at.into(),
            ended_at: backtest.ended_at.map(Field::from),
        }
    }
}
