//! The literals that a pattern needs: every matching text contains at least one of them.

use std::cmp::Reverse;

use regex_syntax::hir::literal::{ExtractKind, Extractor, Seq};
use regex_syntax::hir::{Hir, HirKind};

use super::rewrite::in_small_letters;
use crate::rules::budget::{Meter, Over};

/// Shorter literals are in most texts, so they would not save a search.
const SHORTEST: usize = 3;

/// How many places inside a pattern are searched for a literal.
const MOST_PLACES: usize = 8;

/// Memory for all candidate literals, in bytes. Over this limit, a pattern keeps only its longest
/// ones.
const CHOICE_BYTES: usize = 16 << 20;

/// Literals in lower-case ASCII. Every match of a pattern contains at least one of them.
pub(super) type Literals = Vec<Vec<u8>>;

/// The literals that each pattern needs.
pub(super) fn all_choices(patterns: &[Hir], meter: &Meter<'_>) -> Result<Vec<Vec<Literals>>, Over> {
    let mut bytes = 0;
    let mut all = Vec::with_capacity(patterns.len());
    for pattern in patterns {
        meter.check_time()?;
        let mut choices = choices(pattern);
        bytes += literal_bytes(&choices);
        if bytes > CHOICE_BYTES {
            choices.sort_by_key(|literals| Reverse(shortest(literals)));
            choices.truncate(1);
        }
        all.push(choices);
    }
    Ok(all)
}

fn literal_bytes(choices: &[Literals]) -> usize {
    let literals = choices.iter().flatten();
    literals
        .map(|literal| size_of::<Vec<u8>>() + literal.len())
        .sum()
}

/// The sets of literals that a pattern needs and that are long enough, from its ends and from
/// inside.
fn choices(hir: &Hir) -> Vec<Literals> {
    let extract = |hir: &Hir, kind: ExtractKind| {
        lowered(Extractor::new().kind(kind.clone()).extract(hir), &kind)
    };
    let hir = in_small_letters(hir);
    let ends = [ExtractKind::Prefix, ExtractKind::Suffix].map(|kind| extract(&hir, kind));
    let inside = inner_places(&hir).map(|rest| extract(&rest, ExtractKind::Prefix));
    ends.into_iter()
        .chain(inside)
        .flatten()
        .filter(|literals| shortest(literals) >= SHORTEST)
        .collect()
}

pub(super) fn shortest(literals: &Literals) -> usize {
    literals.iter().map(Vec::len).min().unwrap_or(0)
}

/// The rest of a pattern after each of its first repetitions.
fn inner_places(hir: &Hir) -> impl Iterator<Item = Hir> {
    let parts: &[Hir] = match hir.kind() {
        HirKind::Concat(parts) => parts,
        _ => &[],
    };
    let is_repetition = |part: &Hir| matches!(part.kind(), HirKind::Repetition(_));
    let places = (1..parts.len()).filter(move |at| is_repetition(&parts[at - 1]));
    places
        .take(MOST_PLACES)
        .map(|at| Hir::concat(parts[at..].to_vec()))
}

/// The literals of a sequence in lower case, without repetitions; `None` for an infinite sequence.
fn lowered(mut seq: Seq, kind: &ExtractKind) -> Option<Literals> {
    match kind {
        ExtractKind::Suffix => seq.optimize_for_suffix_by_preference(),
        _ => seq.optimize_for_prefix_by_preference(),
    }
    let mut literals: Vec<_> = seq
        .literals()?
        .iter()
        .map(|literal| literal.as_bytes().to_ascii_lowercase())
        .collect();
    literals.sort_unstable();
    literals.dedup();
    Some(literals)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literals(pattern: &str) -> Vec<Vec<String>> {
        choices(&regex_syntax::parse(pattern).unwrap())
            .into_iter()
            .map(|literals| {
                literals
                    .into_iter()
                    .map(|l| String::from_utf8(l).unwrap())
                    .collect()
            })
            .collect()
    }

    #[test]
    fn literals_are_taken_from_either_end_and_from_inside() {
        assert_eq!(literals("review-\\d{4}"), [["review-"]]);
        assert_eq!(literals("[a-z]+@example\\.com")[0], ["@example.com"]);
        assert_eq!(literals("[a-z]+inside\\d*"), [["inside"]]);
        assert_eq!(literals("(?i)\\w+fob\\w+"), [["fob"]]);
        assert_eq!(literals("\\w+").len(), 0);
        assert_eq!(literals("ab|[0-9]+").len(), 0);
    }
}
