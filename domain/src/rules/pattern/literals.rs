//! Which of many patterns can match a text at all: most need a literal that most texts do not have, and one automaton
//! looks for all those literals at once.

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError, MatchKind};
use regex_syntax::hir::Hir;
use regex_syntax::hir::literal::{ExtractKind, Extractor, Seq};

/// Shorter literals are in most texts, and would not spare a search.
const SHORTEST: usize = 3;

/// Tells the patterns that can match, by their number.
pub(super) struct Candidates {
    search: Option<AhoCorasick>,
    /// For each literal, the pattern that needs it or another.
    owners: Vec<usize>,
    /// Patterns without such literals, which are always candidates.
    always: Vec<usize>,
    patterns: usize,
}

impl Candidates {
    pub(super) fn new<'a>(patterns: impl Iterator<Item = &'a Hir>) -> Result<Self, BuildError> {
        let (mut texts, mut owners, mut always) = (Vec::new(), Vec::new(), Vec::new());
        let mut count = 0;
        for (number, hir) in patterns.enumerate() {
            count += 1;
            match required(hir) {
                Some(literals) => {
                    owners.resize(owners.len() + literals.len(), number);
                    texts.extend(literals);
                }
                None => always.push(number),
            }
        }
        let search = (!texts.is_empty())
            .then(|| {
                AhoCorasick::builder()
                    .match_kind(MatchKind::Standard)
                    .kind(Some(AhoCorasickKind::ContiguousNFA))
                    .ascii_case_insensitive(true)
                    .build(&texts)
            })
            .transpose()?;
        Ok(Self {
            search,
            owners,
            always,
            patterns: count,
        })
    }

    /// The numbers of the patterns that can match a text, ascending.
    pub(super) fn of(&self, text: &str) -> impl Iterator<Item = usize> + use<> {
        let mut possible = vec![false; self.patterns];
        for number in &self.always {
            possible[*number] = true;
        }
        if let Some(search) = &self.search {
            for found in search.find_overlapping_iter(text) {
                possible[self.owners[found.pattern().as_usize()]] = true;
            }
        }
        possible
            .into_iter()
            .enumerate()
            .filter_map(|(number, possible)| possible.then_some(number))
    }

    pub(super) fn approx_bytes(&self) -> usize {
        self.search.as_ref().map_or(0, AhoCorasick::memory_usage)
            + (self.owners.capacity() + self.always.capacity()) * size_of::<usize>()
    }
}

/// Literals of which every match has at least one, in lower-case ASCII; `None` where there are none worth it.
fn required(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    let extract =
        |kind: ExtractKind| lowered(Extractor::new().kind(kind.clone()).extract(hir), &kind);
    let shortest = |literals: &Vec<Vec<u8>>| literals.iter().map(Vec::len).min().unwrap_or(0);
    [extract(ExtractKind::Prefix), extract(ExtractKind::Suffix)]
        .into_iter()
        .flatten()
        .max_by_key(shortest)
        .filter(|literals| shortest(literals) >= SHORTEST)
}

/// The literals of a sequence in lower case, each once; `None` for an infinite one.
fn lowered(mut seq: Seq, kind: &ExtractKind) -> Option<Vec<Vec<u8>>> {
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
    use proptest::prelude::*;

    use super::*;

    fn literals(pattern: &str) -> Option<Vec<String>> {
        let literals = required(&regex_syntax::parse(pattern).unwrap())?;
        Some(
            literals
                .into_iter()
                .map(|literal| String::from_utf8(literal).unwrap())
                .collect(),
        )
    }

    #[test]
    fn literals_are_taken_from_either_end() {
        assert_eq!(literals("review-\\d{4}").unwrap(), ["review-"]);
        assert_eq!(literals("[a-z]+@example\\.com").unwrap(), ["@example.com"]);
        assert_eq!(literals("\\w+").as_deref(), None);
        assert_eq!(literals("ab|[0-9]+").as_deref(), None);
    }

    proptest! {
        #[test]
        fn no_pattern_that_matches_is_missed(
            pattern in "(\\(\\?i\\))?([aAbk]{1,4}|\\[ab\\]\\+|\\.|ſ){1,3}(\\|[abK]{3,5})?", text in "[aAbBkKſK]{0,12}",
        ) {
            let hir = regex_syntax::parse(&pattern).unwrap();
            let regex = regex_automata::meta::Regex::builder().build_from_hir(&hir).unwrap();
            if regex.is_match(&text) {
                let candidates = Candidates::new([&hir].into_iter()).unwrap();
                prop_assert_eq!(candidates.of(&text).count(), 1);
            }
        }
    }
}
