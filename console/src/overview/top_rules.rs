//! The rules that decided most.

use std::collections::HashMap;

use domain::{
    id::{RuleGroupId, RuleId, TeamId},
    rules::RuleType,
};
use management::{
    Caller, Refused,
    rule_groups::{self, Group},
    statistics::{Report, RuleMatches},
};

use crate::{
    number::{grouped, percent},
    page::Frame,
};

/// Rules that are shown.
const SHOWN: usize = 8;

/// A rule that matched often.
pub(super) struct TopRule {
    /// Its name when it matched last.
    pub(super) name: String,
    /// What kind of rule it is, if it is in the live version of its group.
    pub(super) kind: Option<RuleType>,
    /// The name of its group, if it is known.
    pub(super) group: Option<String>,
    /// The group's page; none if the group was deleted.
    pub(super) path: Option<String>,
    pub(super) items: String,
    /// Its share of all matches, in percent.
    pub(super) share: i64,
}

/// The kinds of the rules that are shown.
pub(super) async fn kinds(
    caller: &Caller,
    team: TeamId,
    report: &Report,
) -> Result<HashMap<RuleId, RuleType>, Refused> {
    let shown: Vec<&RuleMatches> = report.rules.iter().take(SHOWN).collect();
    if shown.is_empty() {
        return Ok(HashMap::new());
    }
    let groups: Vec<RuleGroupId> = shown.iter().map(|rule| rule.group).collect();
    let rules: Vec<RuleId> = shown.iter().map(|rule| rule.rule).collect();
    rule_groups::kinds(caller, team, &groups, &rules).await
}

/// The rules that matched most often. `groups` are the first groups of the team, and `has_all` says whether they are all.
pub(super) fn top_rules(
    frame: &Frame,
    report: &Report,
    kinds: &HashMap<RuleId, RuleType>,
    groups: &[Group],
    has_all: bool,
) -> Vec<TopRule> {
    let matches = report.rules.iter().map(|rule| rule.matches);
    let all = matches.fold(report.other_matches, i64::saturating_add);
    let rules = report.rules.iter().take(SHOWN);
    rules
        .map(|rule| {
            let group = groups.iter().find(|group| group.id == rule.group);
            let can_exist = group.is_some() || !has_all;
            TopRule {
                name: rule.name.clone(),
                kind: kinds.get(&rule.rule).copied(),
                group: group.map(|group| group.name.clone()),
                path: can_exist.then(|| format!("{}/{}", frame.path("rules"), rule.group)),
                items: grouped(rule.matches),
                share: percent(rule.matches, all),
            }
        })
        .collect()
}
