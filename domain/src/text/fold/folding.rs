//! Folds a text character by character, and records where each byte came from.

use unicode_normalization::char::{compose, decompose_compatible, is_combining_mark};

use super::Source;
use crate::text::confusables::{enclosed, is_decoration, is_invisible, look_alike};

/// A text being folded: `sources` has an element for each byte of `text`.
pub(super) struct Folding {
    pub(super) text: String,
    pub(super) sources: Vec<Source>,
}

impl Folding {
    pub(super) fn fold(&mut self, c: char, source: Source) {
        if c.is_ascii() {
            let c = if c.is_ascii_whitespace() || c == '\u{0B}' {
                ' '
            } else {
                c.to_ascii_lowercase()
            };
            self.push(c, source);
        } else if c.is_whitespace() {
            self.push(' ', source);
        } else if let Some(letter) = enclosed(c) {
            self.push(letter, source);
        } else if let Some(ascii) = look_alike(c) {
            for c in ascii.chars() {
                self.push(c, source);
            }
        } else {
            decompose_compatible(c, |part| {
                for part in part.to_lowercase() {
                    self.fold_part(part, source);
                }
            });
        }
    }

    /// Takes a part of a decomposed character. Marks are dropped or put back, and look-alikes are
    /// replaced.
    fn fold_part(&mut self, part: char, source: Source) {
        if is_decoration(part) || is_invisible(part) {
            return;
        }
        if let Some(ascii) = look_alike(part) {
            for c in ascii.chars() {
                self.push(c, source);
            }
            return;
        }
        // Decomposing split Hangul syllables and voiced kana. A mark that spells goes back to its
        // letter.
        let belongs = is_combining_mark(part) || matches!(part, '\u{1160}'..='\u{11FF}');
        match self.text.chars().next_back().filter(|_| belongs) {
            Some(last) => match compose(last, part) {
                Some(whole) => {
                    let end = self.text.len() - last.len_utf8();
                    let from = self.sources[end].from;
                    self.text.truncate(end);
                    self.sources.truncate(end);
                    self.push(
                        whole,
                        Source {
                            from,
                            to: source.to,
                        },
                    );
                }
                None => self.push(part, source),
            },
            None => self.push(part, source),
        }
    }

    fn push(&mut self, c: char, source: Source) {
        self.text.push(c);
        self.sources.resize(self.text.len(), source);
    }
}
