//! A text with marks where rules matched.

use std::ops::Range;

use domain::rules::{Evidence, RuleEffect, Violation};

/// Matches that are marked. Each can be long and overlap all others.
const MOST: usize = 200;

/// A part of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    /// The tone of the strictest rule that matched here. None: no rule did.
    pub(super) tone: Option<&'static str>,
    /// The rules that matched here.
    pub(super) rules: String,
}

/// A text in pieces. Where matches overlap, a piece names all their rules.
pub(super) fn pieces(text: &str, violations: &[Violation]) -> Vec<Piece> {
    let places = violations
        .iter()
        .filter_map(|violation| match &violation.evidence {
            Evidence::Text { span, .. } if !span.is_empty() => {
                // Both ends are character boundaries of this text.
                text.get(span.clone()).map(|_| (span.clone(), violation))
            }
            Evidence::Text { .. } | Evidence::Score { .. } | Evidence::Hash { .. } => None,
        });
    let places: Vec<(Range<usize>, &Violation)> = places.take(MOST).collect();
    let mut ends: Vec<usize> = places
        .iter()
        .flat_map(|(span, _)| [span.start, span.end])
        .collect();
    ends.extend([0, text.len()]);
    ends.sort_unstable();
    ends.dedup();
    ends.windows(2)
        .map(|pair| {
            let (start, end) = (pair[0], pair[1]);
            let here = places
                .iter()
                .filter(|(span, _)| span.start <= start && end <= span.end);
            let here: Vec<&Violation> = here.map(|(_, violation)| *violation).collect();
            let rejects = here.iter().any(|found| found.effect == RuleEffect::Reject);
            let names: Vec<&str> = here.iter().map(|found| found.rule_name.as_str()).collect();
            Piece {
                text: text[start..end].to_owned(),
                tone: (!here.is_empty()).then_some(if rejects { "no" } else { "warn" }),
                rules: names.join(", "),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use domain::rules::{CompiledGroup, Content, Rule};

    use super::*;

    fn marked(text: &str, rules: &[(&str, &str)]) -> String {
        let rules: Vec<Rule> = rules
            .iter()
            .enumerate()
            .map(|(at, (pattern, effect))| Rule {
                id: uuid::Uuid::from_u128(at as u128).into(),
                name: (*pattern).to_owned(),
                enabled: true,
                exceptions: Vec::new(),
                kind: domain::rules::RuleKind::Regex(domain::rules::Pattern {
                    pattern: (*pattern).to_owned(),
                    effect: match *effect {
                        "reject" => RuleEffect::Reject,
                        _ => RuleEffect::Review,
                    },
                }),
            })
            .collect();
        let nobody = uuid::Uuid::nil();
        let group = CompiledGroup::compile(nobody.into(), nobody.into(), &rules).unwrap();
        let found = group.examine(&Content {
            text: Some(text),
            scores: &domain::score::Scores::new(),
            image_matches: &[],
        });
        let pieces = pieces(text, &found);
        let shown = pieces.iter().map(|piece| match piece.tone {
            Some(tone) => format!("[{tone}:{}]", piece.text),
            None => piece.text.clone(),
        });
        shown.collect()
    }

    #[test]
    fn matches_are_marked_and_the_strictest_counts_where_they_overlap() {
        let rules = [("bcd", "review"), ("cde", "reject")];
        assert_eq!(marked("abcdef", &rules), "a[warn:b][no:cd][no:e]f");
        assert_eq!(marked("übcdü", &rules), "ü[warn:bcd]ü");
        assert_eq!(marked("xyz", &rules), "xyz");
        assert_eq!(marked("", &rules), "");
    }
}
