//! Splits a text into the pieces that the encoder knows: words and signs, then the longest known
//! pieces of each word from the left.
//!
//! It is the tokenizer of BERT without case, for texts that are folded already.

use std::collections::HashMap;

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

use crate::Damaged;

/// Characters of the longest word that is split. A longer one is unknown, as in BERT.
const LONGEST_WORD: usize = 100;

#[derive(Debug)]
pub(super) struct WordPiece {
    /// Pieces at the start of a word, and what else has a number.
    starts: HashMap<Box<str>, u32>,
    /// Pieces after the start, without their `##`.
    others: HashMap<Box<str>, u32>,
    /// Bytes of the longest piece.
    longest: usize,
    unknown: u32,
    /// What stands before and after the pieces of a text.
    pub(super) around: [u32; 2],
}

impl WordPiece {
    /// The vocabulary has a piece on each line. A piece's number is that of its line.
    pub(super) fn new(vocabulary: &str) -> Result<Self, Damaged> {
        let (mut starts, mut others) = (HashMap::new(), HashMap::new());
        let mut longest = 0;
        for (piece, number) in vocabulary.split('\n').zip(0..) {
            let (pieces, piece) = match piece.strip_prefix("##") {
                Some(rest) if !rest.is_empty() => (&mut others, rest),
                _ => (&mut starts, piece),
            };
            longest = longest.max(piece.len());
            pieces.insert(Box::from(piece), number);
        }
        let special = |name: &str| {
            starts
                .get(name)
                .copied()
                .ok_or_else(|| Damaged::new(format!("its vocabulary has no {name}")))
        };
        Ok(Self {
            unknown: special("[UNK]")?,
            around: [special("[CLS]")?, special("[SEP]")?],
            starts,
            others,
            longest,
        })
    }

    /// The first `limit` pieces of a text. It reads no more of the text than it needs.
    pub(super) fn pieces(&self, text: &str, limit: usize) -> Vec<u32> {
        let (mut pieces, mut word) = (Vec::new(), String::new());
        for c in text.chars() {
            if pieces.len() >= limit {
                break;
            }
            let is_alone = is_alone(c);
            if is_alone || c.is_whitespace() {
                self.split(&word, &mut pieces);
                word.clear();
            }
            if is_alone {
                self.split(c.encode_utf8(&mut [0; 4]), &mut pieces);
            } else if !c.is_whitespace() && !is_dropped(c) {
                word.push(c);
            }
        }
        self.split(&word, &mut pieces);
        pieces.truncate(limit);
        pieces
    }

    /// Adds the pieces of a word, or that it is unknown.
    fn split(&self, word: &str, pieces: &mut Vec<u32>) {
        let before = pieces.len();
        let is_long = word.chars().count() > LONGEST_WORD;
        let mut rest = if is_long { "" } else { word };
        while let Some((piece, after)) = self.longest_piece(rest, rest.len() == word.len()) {
            pieces.push(piece);
            rest = after;
        }
        if is_long || !rest.is_empty() {
            pieces.truncate(before);
            pieces.push(self.unknown);
        }
    }

    /// The longest piece that a text begins with, and what follows it.
    fn longest_piece<'a>(&self, text: &'a str, is_start: bool) -> Option<(u32, &'a str)> {
        let known = if is_start { &self.starts } else { &self.others };
        (1..=text.len().min(self.longest)).rev().find_map(|end| {
            let (piece, after) = text.split_at_checked(end)?;
            Some((*known.get(piece)?, after))
        })
    }
}

/// Signs and Chinese characters are words of their own.
fn is_alone(c: char) -> bool {
    c.is_ascii_punctuation()
        || (!c.is_ascii() && c.general_category_group() == GeneralCategoryGroup::Punctuation)
        || matches!(c,
            '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2ceaf}'
            | '\u{2f800}'..='\u{2fa1f}')
}

/// Control characters and accents that folding has left.
fn is_dropped(c: char) -> bool {
    c.is_control()
        || c == '\u{fffd}'
        || (!c.is_ascii()
            && matches!(
                c.general_category(),
                GeneralCategory::NonspacingMark
                    | GeneralCategory::Format
                    | GeneralCategory::PrivateUse
            ))
}

#[cfg(test)]
mod tests {
    use super::WordPiece;

    const VOCABULARY: &str =
        "[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\n##a\n!\n你\nrun\n##ning\n#";

    fn pieces(text: &str, limit: usize) -> Vec<u32> {
        WordPiece::new(VOCABULARY).unwrap().pieces(text, limit)
    }

    #[test]
    fn words_become_their_longest_pieces() {
        for (text, expected) in [
            ("", vec![]),
            ("  ", vec![]),
            ("unaffable", vec![4, 5, 6]),
            ("una", vec![4, 7]),
            ("running un", vec![10, 11, 4]),
            ("un!un", vec![4, 8, 4]),
            ("##a", vec![12, 12, 1]),
            ("你你x", vec![9, 9, 1]),
            ("affable", vec![1]),
            ("u\u{0}n", vec![4]),
            ("unknown!", vec![1, 8]),
        ] {
            assert_eq!(pieces(text, 99), expected, "{text:?}");
        }
        let long = format!("{} un", "un".repeat(51));
        assert_eq!(pieces(&long, 99), [1, 4]);
    }

    #[test]
    fn there_are_at_most_as_many_pieces_as_asked_for() {
        assert_eq!(pieces("unaffable running", 2), [4, 5]);
        assert_eq!(pieces("un un un", 2), [4, 4]);
        assert!(pieces("un", 0).is_empty());
    }

    #[test]
    fn a_vocabulary_without_what_stands_around_a_text_is_refused() {
        for name in ["[UNK]", "[CLS]", "[SEP]"] {
            let error = WordPiece::new(&VOCABULARY.replace(name, "x")).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
