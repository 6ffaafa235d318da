//! Trying another threshold: in the draft, and over stored items.

use domain::{
    id::{RuleGroupId, RuleId, SiteId},
    rules::{RuleBody, RuleEffect, RuleKind},
};

use super::{
    backtests::{self, Backtest, NewBacktest},
    drafts,
    edits::{self, Edit},
};
use crate::{Caller, Noun, Refused, boxed};

/// Another threshold for a rule.
#[derive(Clone, Copy, Debug)]
pub struct NewThreshold {
    /// The rule.
    pub rule: RuleId,
    /// Which of its thresholds.
    pub effect: RuleEffect,
    /// From 0 to 1.
    pub threshold: f64,
    /// Only items of this site are replayed. `None`: all that the group has judged.
    pub site: Option<SiteId>,
}

/// Sets a threshold in a group's draft, and starts a backtest of the draft. What else the draft changes stays, and is replayed, too.
/// If no backtest can start, the draft still has the threshold.
///
/// # Errors
/// The caller may not do it; there is no such group within reach; the draft has no such rule, or it has no thresholds; somebody
/// changes the draft at the same time; the rules do not compile; the team has a backtest that has not ended, or has reached its
/// limit of rules stored in a day.
#[boxed]
pub async fn try_threshold(
    caller: &Caller,
    group: RuleGroupId,
    new: NewThreshold,
) -> Result<Backtest, Refused> {
    let draft = drafts::get(caller, group).await?.draft;
    let mut rules = draft.rules.into_iter();
    let rule = rules.find(|rule| rule.id == new.rule);
    let rule = rule.ok_or(Refused::NotFound(Noun::Rule))?;
    let mut kind = rule.kind;
    let RuleKind::AiThreshold(thresholds) = &mut kind else {
        return Err(Refused::field("rule", "has no thresholds"));
    };
    let present = match new.effect {
        RuleEffect::Review => &mut thresholds.review_at,
        RuleEffect::Reject => &mut thresholds.reject_at,
    };
    if *present != Some(new.threshold) {
        *present = Some(new.threshold);
        let body = RuleBody {
            name: rule.name,
            enabled: rule.enabled,
            exceptions: rule.exceptions,
            kind,
        };
        let edit = Edit::Replace(new.rule, body);
        edits::edit(caller, group, draft.revision, edit).await?;
    }
    let backtest = NewBacktest {
        site: new.site,
        ..NewBacktest::default()
    };
    backtests::create(caller, group, backtest).await
}
