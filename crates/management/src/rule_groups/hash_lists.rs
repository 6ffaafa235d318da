//! The hash lists that rules name. They must be the team's own or shared ones.

use std::collections::BTreeSet;

use domain::{
    id::{HashListId, TeamId},
    rules::Rule,
};
use store::hash_list;

use crate::{FieldProblem, Refused, Session};

/// Refuses rules that name a list the team cannot use. The lists stay until the transaction ends.
pub(super) async fn require(
    session: &mut Session,
    team: TeamId,
    rules: &[Rule],
) -> Result<(), Refused> {
    refuse(missing(session, team, rules).await?)
}

/// The same check for a trial, in a transaction that only reads.
pub(super) async fn look_for(
    session: &mut Session,
    team: TeamId,
    rules: &[Rule],
) -> Result<(), Refused> {
    let usable = match named(rules) {
        named if named.is_empty() => return Ok(()),
        named => hash_list::usable(session.conn(), team, &named).await?,
    };
    refuse(others(rules, &usable))
}

/// The same for an earlier version that will judge again, which the request names in its member `version_id`.
pub(super) async fn require_still(
    session: &mut Session,
    team: TeamId,
    rules: &[Rule],
) -> Result<(), Refused> {
    if missing(session, team, rules).await?.is_empty() {
        return Ok(());
    }
    let message = "has rules that name hash lists which are not there any more";
    Err(Refused::field("version_id", message))
}

/// What is wrong with the lists of rules that will judge.
async fn missing(
    session: &mut Session,
    team: TeamId,
    rules: &[Rule],
) -> Result<Vec<FieldProblem>, Refused> {
    let usable = match named(rules) {
        named if named.is_empty() => Vec::new(),
        named => hash_list::hold_usable(session.conn(), team, &named).await?,
    };
    Ok(others(rules, &usable))
}

fn named(rules: &[Rule]) -> BTreeSet<HashListId> {
    let named = rules.iter().flat_map(|rule| rule.kind.hash_lists());
    named.copied().collect()
}

/// The lists that rules name and that are not among these.
fn others(rules: &[Rule], usable: &[HashListId]) -> Vec<FieldProblem> {
    let lists = |rule: usize| rules[rule].kind.hash_lists().iter().enumerate();
    let places =
        (0..rules.len()).flat_map(|rule| lists(rule).map(move |(at, list)| (rule, at, list)));
    places
        .filter(|(_, _, list)| !usable.contains(list))
        .map(|(rule, at, _)| FieldProblem {
            field: format!("rules[{rule}].lists[{at}]"),
            message: "is no hash list of the team, nor a shared one".to_owned(),
            position: None,
        })
        .collect()
}

fn refuse(problems: Vec<FieldProblem>) -> Result<(), Refused> {
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Refused::fields(problems))
    }
}
