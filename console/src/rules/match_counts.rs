//! How many items each rule of a group matched in the last days.

use domain::{
    id::{RuleGroupId, RuleId},
    scope::Scope,
};
use management::{
    Caller, Refused,
    statistics::{self, GroupMatches},
};

use crate::{
    number::grouped,
    page::{Frame, PageRequest},
};

/// Days that are counted, today included.
const DAYS: u32 = 7;

/// The hits of a group's rules; none if the person may not know them.
pub(super) struct Hits(Option<GroupMatches>);

/// The hits of the last days.
pub(super) async fn of(
    request: &PageRequest,
    caller: &Caller,
    frame: &Frame,
    group: RuleGroupId,
) -> Result<Hits, Refused> {
    if !frame.may(Scope::MediaRead) {
        return Ok(Hits(None));
    }
    let found = statistics::of_group(&request.management, caller, group, DAYS).await?;
    Ok(Hits(Some(found)))
}

impl Hits {
    /// The hits of a rule in words; none if they are not known. A rule that is only in the draft has none.
    pub(super) fn of_rule(&self, rule: RuleId, is_new: bool) -> Option<String> {
        let Self(found) = self;
        let found = found.as_ref().filter(|_| !is_new)?;
        match (found.rules.get(&rule), found.is_complete) {
            (Some(hits), true) => Some(grouped(*hits)),
            (Some(hits), false) => Some(format!("at least {}", grouped(*hits))),
            (None, true) => Some("0".to_owned()),
            (None, false) => None,
        }
    }

    /// Whether some matches are not counted by rule.
    pub(super) fn is_incomplete(&self) -> bool {
        let Self(found) = self;
        found.as_ref().is_some_and(|found| !found.is_complete)
    }
}
