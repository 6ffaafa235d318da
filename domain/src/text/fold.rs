//! The folded reading: what makes no difference to a reader makes none here.

use std::ops::Range;

use unicode_normalization::char::{compose, decompose_compatible, is_combining_mark};

use super::confusables::{enclosed, is_decoration, is_invisible, look_alike};

/// A text in lower case, NFKC, without decorating marks and invisible characters, look-alikes of ASCII made
/// ASCII, each whitespace a space. Every byte knows the character of the original that it came from.
pub(crate) struct Folded {
    text: String,
    origin: Origin,
}

enum Origin {
    /// The original was ASCII: folding moved nothing.
    Same,
    /// For each byte of the folded text the bytes of the original that it stands for.
    Mapped(Vec<Source>),
}

/// Bytes `from..to` of the original: one character, or several that were composed. Four bytes each are enough for
/// any text that the service accepts; see [`position`].
#[derive(Clone, Copy)]
struct Source {
    from: u32,
    to: u32,
}

/// A byte offset in the short form. Texts of 4 GiB never come this far: the limit is 100 KB.
pub(super) fn position(offset: usize) -> u32 {
    u32::try_from(offset).expect("texts are limited to far less than 4 GiB")
}

impl Folded {
    /// Folds a text.
    pub(crate) fn new(original: &str) -> Self {
        if original.is_ascii() {
            let lower = original.to_ascii_lowercase();
            let text = if lower.bytes().any(|b| matches!(b, b'\t'..=b'\r')) {
                lower.replace(['\t', '\n', '\u{0B}', '\u{0C}', '\r'], " ")
            } else {
                lower
            };
            return Self {
                text,
                origin: Origin::Same,
            };
        }
        let mut folding = Folding {
            text: String::with_capacity(original.len()),
            sources: Vec::with_capacity(original.len()),
        };
        for (from, c) in original.char_indices() {
            folding.fold(
                c,
                Source {
                    from: position(from),
                    to: position(from + c.len_utf8()),
                },
            );
        }
        Self {
            text: folding.text,
            origin: Origin::Mapped(folding.sources),
        }
    }

    /// The folded text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the original that a non-empty range of the folded text stands for. Both ends are character
    /// boundaries of the original.
    pub(crate) fn original_span(&self, folded: Range<usize>) -> Range<usize> {
        match &self.origin {
            Origin::Same => folded,
            Origin::Mapped(sources) => {
                sources[folded.start].from as usize..sources[folded.end - 1].to as usize
            }
        }
    }

    /// The range of the folded text that a range of the original became; empty where all of it was invisible.
    pub(crate) fn folded_span(&self, original: &Range<usize>) -> Range<usize> {
        match &self.origin {
            Origin::Same => original.clone(),
            Origin::Mapped(sources) => {
                let start = sources.partition_point(|s| (s.to as usize) <= original.start);
                let end = sources.partition_point(|s| (s.from as usize) < original.end);
                start..end.max(start)
            }
        }
    }
}

/// A text being folded: `sources` has an element for each byte of `text`.
struct Folding {
    text: String,
    sources: Vec<Source>,
}

impl Folding {
    fn fold(&mut self, c: char, source: Source) {
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

    /// Takes a part of a decomposed character: marks are dropped or put back, look-alikes replaced.
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
        // Decomposing took Hangul syllables and voiced kana apart; a mark that spells goes back to its letter.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_readers_read_alike_is_folded_alike() {
        for (text, folded) in [
            ("Hello\tWORLD", "hello world"),
            ("blo\u{200B}ck\u{AD}ed", "blocked"),
            ("b\u{0336}l\u{0336}öckéd", "blocked"),
            ("ｂｌｏｃｋ 𝐛𝓵𝔬𝖼𝗸 ⓑⓛⓞⓒⓚ 🅑🅛🅞🅒🅚", "block block block block"),
            ("Ьlосkеd wоrd ꮪtupid ꓡoser", "blocked word stupid loser"),
            ("ΒLΟCΚ", "block"),
            ("ﬁne ﬀ", "fine ff"),
            ("STRASSE straße", "strasse strasse"),
            ("İstanbul ısı", "istanbul isi"),
            ("한국어 각", "한국어 각"),
            ("\u{1112}\u{1161}\u{11AB}", "한"),
            ("がぎ か\u{3099}", "がぎ が"),
            ("हिन्दी", "हिन्दी"),
            ("שָׁלוֹם", "שלום"),
            ("ВОДА вода", "boдa boдa"),
            ("don’t — “so”", "don't - \"so\""),
            ("", ""),
        ] {
            assert_eq!(Folded::new(text).text(), folded);
        }
    }

    #[test]
    fn a_place_is_found_again_in_the_original() {
        let original = "Ünder: b\u{200B}lö\u{0301}ck!";
        let folded = Folded::new(original);
        let at = folded.text().find("block").unwrap();
        let span = folded.original_span(at..at + 5);
        assert_eq!(&original[span.clone()], "b\u{200B}lö\u{0301}ck");
        assert_eq!(folded.folded_span(&span), at..at + 5);

        // A syllable that was composed stands for all its parts.
        let parts = "\u{1112}\u{1161}\u{11AB}";
        let folded = Folded::new(parts);
        assert_eq!(folded.original_span(0..folded.text().len()), 0..parts.len());
    }

    proptest! {
        #[test]
        fn every_place_of_any_text_leads_back_to_character_boundaries(
            text in "(\\PC|[a-c \u{200B}\u{0301}\u{1112}\u{1161}\u{11AB}がﬁ]){0,40}",
        ) {
            let folded = Folded::new(&text);
            let places: Vec<usize> =
                folded.text().char_indices().map(|(at, _)| at).chain([folded.text().len()]).collect();
            for (at, &start) in places.iter().enumerate() {
                for &end in &places[at + 1..] {
                    let span = folded.original_span(start..end);
                    prop_assert!(text.get(span.clone()).is_some_and(|part| !part.is_empty()));
                    let back = folded.folded_span(&span);
                    prop_assert!(back.start <= start && end <= back.end);
                }
            }
        }

        #[test]
        fn folding_again_changes_nothing(text in "\\PC{0,60}") {
            let once = Folded::new(&text);
            let twice = Folded::new(once.text());
            prop_assert_eq!(twice.text(), once.text());
        }
    }
}
