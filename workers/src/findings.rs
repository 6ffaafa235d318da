//! What rule groups found in an item, and the verdict that follows.

use std::time::Instant;

use domain::{
    decision::{Findings, Judged, Part, Unchecked, Verdict, decide},
    id::RuleGroupId,
    rules::{Content, Violation},
    score::Category,
};
use store::verdict::ToJudge;

use crate::rule_group_cache::Compiled;

/// What one group found in an item.
#[derive(Clone, Debug)]
pub(crate) struct GroupFindings {
    pub(crate) group: RuleGroupId,
    /// The categories that it asks for.
    pub(crate) categories: Vec<Category>,
    /// None if the group could not judge.
    pub(crate) judged: Option<Judged>,
    violations: Vec<Violation>,
    examines_text: bool,
    recognises: bool,
    unchecked: Option<Unchecked>,
}

impl GroupFindings {
    /// Examines an item with a group.
    pub(crate) fn of(item: &ToJudge, group: &Compiled) -> Self {
        let group = match group {
            Compiled::Ready(group) => group,
            Compiled::TooHeavy(heavy) => {
                return Self {
                    group: heavy.group,
                    categories: Vec::new(),
                    judged: None,
                    violations: Vec::new(),
                    examines_text: false,
                    recognises: false,
                    unchecked: Some(heavy.unchecked()),
                };
            }
        };
        let begun = Instant::now();
        let violations = group.examine(&Content {
            text: item.text.as_deref(),
            scores: &item.scores.unwrap_or_default(),
            image_matches: &item.image_matches,
        });
        Self {
            group: group.group(),
            categories: group.categories().to_vec(),
            judged: Some(Judged {
                group: group.group(),
                version: group.version(),
                micros: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
            }),
            violations,
            examines_text: group.examines_text(),
            recognises: group.recognises(&item.image_matches),
            unchecked: None,
        }
    }
}

/// The verdict that follows from these groups' findings.
pub(crate) fn verdict_on(item: &ToJudge, examined: Vec<GroupFindings>) -> Verdict {
    let wanted = wanted(&examined);
    decide(findings(item, examined, &wanted))
}

/// The categories that these groups ask for.
pub(crate) fn wanted(examined: &[GroupFindings]) -> Vec<Category> {
    Category::ALL
        .into_iter()
        .filter(|category| {
            examined
                .iter()
                .any(|group| group.categories.contains(category))
        })
        .collect()
}

fn findings<'a>(
    item: &'a ToJudge,
    examined: Vec<GroupFindings>,
    wanted: &'a [Category],
) -> Findings<'a> {
    let text_examined = item.scores.is_some() || examined.iter().any(|group| group.examines_text);
    let recognised = examined.iter().any(|group| group.recognises);
    let mut unchecked = item.unchecked.clone();
    let mut groups = Vec::with_capacity(examined.len());
    let mut violations = Vec::new();
    for group in examined {
        groups.extend(group.judged);
        violations.extend(group.violations);
        unchecked.extend(group.unchecked);
    }
    Findings {
        groups,
        violations,
        scores: item.scores,
        wanted,
        gaps: &item.gaps,
        text: match (&item.text, text_examined) {
            (None, _) => Part::Absent,
            (Some(_), true) => Part::Examined,
            (Some(_), false) => Part::Unexamined,
        },
        // An image that is on no list may still be anything.
        image: match (item.has_image, item.image_scored || recognised) {
            (false, _) => Part::Absent,
            (true, true) => Part::Examined,
            (true, false) => Part::Unexamined,
        },
        unchecked,
        on_failure: item.on_failure,
    }
}

#[cfg(test)]
mod tests;
