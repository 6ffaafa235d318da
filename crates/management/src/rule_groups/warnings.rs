//! What the author of rules should know, although they compile. A rule about a category that no
//! provider can score never matches.

use domain::{
    rules::{Rule, RuleKind},
    score::Category,
};
use store::provider;

use crate::{Refused, Session};

/// Something that an author of rules should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The member that the warning is about, such as `rules[3].category`.
    pub field: String,
    /// What the author should know about it.
    pub message: String,
}

/// The warnings about these rules.
pub(super) async fn of(session: &mut Session, rules: &[Rule]) -> Result<Vec<Warning>, Refused> {
    let scorable = provider::scorable(session.conn()).await?;
    Ok(unscorable(rules, &scorable).map(Warning::new).collect())
}

/// The enabled rules about categories that no provider can score: the place of each rule, and its
/// category.
fn unscorable(rules: &[Rule], scorable: &[Category]) -> impl Iterator<Item = (usize, Category)> {
    rules.iter().enumerate().filter_map(|(place, rule)| {
        let asked = match &rule.kind {
            RuleKind::AiThreshold(threshold) if rule.enabled => threshold.category,
            RuleKind::AiThreshold(_)
            | RuleKind::Keyword(_)
            | RuleKind::Regex(_)
            | RuleKind::Link(_)
            | RuleKind::ImageHash(_) => return None,
        };
        (!scorable.contains(&asked)).then_some((place, asked))
    })
}

impl Warning {
    fn new((place, category): (usize, Category)) -> Self {
        Self {
            field: format!("rules[{place}].category"),
            message: format!(
                "No configured provider can score `{category}`, so the rule never matches."
            ),
        }
    }
}
