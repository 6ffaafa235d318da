//! Whether a name without a scheme is meant as a link. Names of files end like countries (`main.rs` is
//! in Serbia), and so do sentences that lack a space ("I was late.so what").

mod word_lists;

use self::word_lists::{
    AFTER_DOT, BEFORE_DOT, COMMON, FILE_NAMES, FILES, OTHER_ENDINGS, PACKAGES, PRODUCTS,
    RARE_FILES, UNITS, is_english, is_other_word,
};

pub(super) use self::word_lists::UNSPACED;

/// A name without a scheme: its labels, and what is around it, folded.
pub(super) struct Name<'a> {
    pub(super) labels: &'a [&'a str],
    /// What follows it.
    pub(super) rest: &'a str,
}

impl Name<'_> {
    /// Whether it is meant as a link.
    pub(super) fn is_likely(&self) -> bool {
        let [.., before, ending] = self.labels else {
            return false;
        };
        if self.has_path(ending) {
            return true;
        }
        !(is_file(before, ending)
            || self.is_product()
            || PACKAGES.contains(&self.labels[0])
            || is_quantity(before, ending)
            || self.is_sentence(before, ending))
    }

    /// Whether a spelled-out dot before the ending is meant as one: "evil . com", "evil dot com".
    pub(super) fn is_spelled_likely(&self) -> bool {
        let [.., before, ending] = self.labels else {
            return false;
        };
        let next = next_word(self.rest);
        let is_phrase = next.is_some_and(|next| AFTER_DOT.contains(&next))
            || BEFORE_DOT.contains(before)
            || is_english(ending) && is_english(before) && next.is_some();
        let is_number = before.bytes().all(|b| b.is_ascii_digit());
        COMMON.contains(ending) && !is_phrase && !is_number
    }

    /// Whether it is a link in text without spaces.
    pub(super) fn is_unspaced_likely(&self) -> bool {
        let ending = self.labels.last();
        ending.is_some_and(|ending| COMMON.contains(ending) || UNSPACED.contains(ending))
            && !(ending.is_some_and(|ending| is_english(ending)) && next_word(self.rest).is_some())
    }

    /// Whether a path, a port or a query follows. After the name of a file, a number is that of a line.
    fn has_path(&self, ending: &str) -> bool {
        let mut rest = self.rest.chars();
        match rest.next() {
            Some('/') => true,
            Some(':') => {
                !FILES.contains(&ending) && rest.next().is_some_and(|c| c.is_ascii_digit())
            }
            Some('?') => {
                let query = rest.as_str().split([' ', '"', '<']).next();
                query.is_some_and(|query| query.contains('='))
            }
            _ => false,
        }
    }

    fn is_product(&self) -> bool {
        let [before, ending] = self.labels else {
            return false;
        };
        let name = PRODUCTS.iter().find_map(|name| name.strip_prefix(before));
        name.and_then(|rest| rest.strip_prefix('.')) == Some(ending)
    }

    /// Whether it is the end of a sentence and the first word of the next one: "I was late.so what".
    fn is_sentence(&self, before: &str, ending: &str) -> bool {
        let continues = next_word(self.rest).is_some();
        let are_words = self.labels.iter().all(|label| is_english(label));
        let is_english = are_words && (self.labels.len() > 2 || continues);
        let is_word = |word: &str| is_other_word(word) || !before.is_ascii();
        is_english || continues && OTHER_ENDINGS.contains(&ending) && is_word(before)
    }
}

/// Whether it is the name of a file.
fn is_file(before: &str, ending: &str) -> bool {
    let is_library =
        || ending == "so" && (before.starts_with("lib") || before.contains(['-', '_']));
    FILES.contains(&ending)
        || RARE_FILES.contains(&ending) && FILE_NAMES.contains(&before)
        || is_library()
}

/// Whether a number and its unit or date lack a space: `10.am`.
fn is_quantity(before: &str, ending: &str) -> bool {
    before.bytes().all(|b| b.is_ascii_digit()) && UNITS.contains(&ending)
}

/// The word after a space or comma on the same line. Folding turned lines into spaces.
fn next_word(rest: &str) -> Option<&str> {
    let rest = rest
        .trim_start_matches([',', ';'])
        .strip_prefix(' ')?
        .trim_start();
    let end = rest
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}
