//! The rules that decided most.

use management::{rule_groups::Group, statistics::Report};

use crate::{
    number::{grouped, percent},
    page::At,
};

/// Rules that are shown.
const SHOWN: usize = 8;

/// A rule that matched often.
pub(super) struct TopRule {
    /// Its name when it matched last.
    pub(super) name: String,
    /// The name of its group, if it is known.
    pub(super) group: Option<String>,
    /// The group's page; none if the group was deleted.
    pub(super) path: Option<String>,
    pub(super) items: String,
    /// Its share of all matches, in percent.
    pub(super) share: i64,
}

/// The rules that matched most often. `groups` are the first groups of the team, and `has_all` says whether they are all.
pub(super) fn top_rules(at: At, report: &Report, groups: &[Group], has_all: bool) -> Vec<TopRule> {
    let matches = report.rules.iter().map(|rule| rule.matches);
    let all = matches.fold(report.other_matches, i64::saturating_add);
    let rules = report.rules.iter().take(SHOWN);
    rules
        .map(|rule| {
            let group = groups.iter().find(|group| group.id == rule.group);
            let can_exist = group.is_some() || !has_all;
            TopRule {
                name: rule.name.clone(),
                group: group.map(|group| group.name.clone()),
                path: can_exist.then(|| format!("{}/{}", at.path("rules"), rule.group)),
                items: grouped(rule.matches),
                share: percent(rule.matches, all),
            }
        })
        .collect()
}
