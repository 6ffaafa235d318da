//! What the lexicons of other languages find (`crates/builtin/lexicons/`).

use super::factor;
use domain::{
    score::Category,
    text::{Answer, Bounds, Matcher, Readings, Term},
};

/// The files, with the codes of their languages.
const FILES: [(&str, &str); 3] = [
    ("de", include_str!("../../lexicons/de.tsv")),
    ("es", include_str!("../../lexicons/es.tsv")),
    ("fr", include_str!("../../lexicons/fr.tsv")),
];

/// A term of a lexicon.
#[derive(Debug, PartialEq)]
struct Entry {
    term: &'static str,
    category: Category,
    weight: f64,
}

/// All lexicons, compiled.
pub(super) struct OtherLanguages {
    entries: Vec<Entry>,
    matcher: Matcher,
}

impl OtherLanguages {
    pub(super) fn new() -> Self {
        let entries: Vec<Entry> = FILES
            .into_iter()
            .flat_map(|(language, file)| read(language, file))
            .collect();
        let terms = entries.iter().enumerate().map(|(owner, entry)| Term {
            text: entry.term,
            bounds: Bounds::Word,
            owner,
        });
        let matcher =
            Matcher::new(terms).expect("the lexicons are far below what an automaton holds");
        Self { entries, matcher }
    }

    /// The category and the weight of each term in a text, once.
    pub(super) fn find(&self, readings: &Readings<'_>) -> impl Iterator<Item = (Category, f64)> {
        let mut found = vec![false; self.entries.len()];
        self.matcher.find(readings, |entry, _| {
            found[entry] = true;
            Answer::More
        });
        let entries = self.entries.iter().zip(found);
        entries.filter_map(|(entry, found)| found.then_some((entry.category, entry.weight)))
    }
}

/// Reads a file, whose form `crates/builtin/lexicons/README.md` describes.
///
/// # Panics
/// If it has another form. The files are part of the program, and tests read them.
fn read(language: &str, file: &'static str) -> impl Iterator<Item = Entry> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines.map(move |line| {
        entry(line).unwrap_or_else(|| panic!("{language}.tsv has a line of another form: {line:?}"))
    })
}

fn entry(line: &'static str) -> Option<Entry> {
    let mut columns = line.split('\t');
    let mut column = || columns.next().filter(|column| !column.trim().is_empty());
    let (term, category, weight, _source) = (column()?, column()?, column()?, column()?);
    let weight = weight.parse().ok()?;
    let is_fit = (0.01..=factor::MOST).contains(&weight) && columns.next().is_none();
    let category = category.parse().ok()?;
    is_fit.then_some(Entry {
        term,
        category,
        weight,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::lexicon::CATEGORIES;

    #[test]
    fn each_term_of_a_file_is_there_once_and_in_a_category_that_is_scored() {
        for (language, file) in FILES {
            let mut terms = BTreeSet::new();
            for entry in read(language, file) {
                assert!(terms.insert(entry.term), "{language}: {entry:?}");
                assert!(
                    CATEGORIES.contains(&entry.category),
                    "{language}: {entry:?}"
                );
            }
            assert!(terms.len() > 20, "{language}");
        }
    }

    #[test]
    fn a_line_of_another_form_is_none() {
        for line in [
            "",
            "term",
            "term\tviolence\t0.5",
            "term\tviolence\t0.5\t",
            "term\tviolence\t0.5\town\tmore",
            "term\tfury\t0.5\town",
            "term\tviolence\tmuch\town",
            "term\tviolence\t0\town",
            "term\tviolence\t1\town",
            "term\tviolence\tNaN\town",
            "\tviolence\t0.5\town",
            "term violence 0.5 own",
        ] {
            assert_eq!(entry(line), None, "{line:?}");
        }
        let expected = Entry {
            term: "term",
            category: Category::SelfHarm,
            weight: 0.5,
        };
        assert_eq!(entry("term\tself_harm\t0.5\town"), Some(expected));
    }
}
