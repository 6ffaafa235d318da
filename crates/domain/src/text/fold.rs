//! The folded reading: differences that do not matter to a reader are removed.

mod folding;
mod letters;

use std::ops::Range;

use self::folding::Folding;
pub(super) use self::folding::Mixed;

/// A text in lower case, NFKC, without decorating marks and invisible characters, with ASCII for
/// look-alikes and a space for each whitespace. Each byte knows the original character that it came
/// from.
pub struct Folded {
    text: String,
    origin: Origin,
    /// The words that mix scripts.
    mixed: Vec<Mixed>,
    /// Whether the text has upside-down letters, or changes its direction.
    turns: bool,
}

enum Origin {
    /// The original was ASCII: folding moved nothing.
    Same,
    /// For each byte of the folded text, the bytes of the original that it stands for.
    Mapped(Vec<Source>),
}

/// Bytes `from..to` of the original: one character, or several that were composed. Four bytes each
/// are enough for any text that the service accepts; see [`position`].
#[derive(Clone, Copy)]
struct Source {
    from: u32,
    to: u32,
}

/// A byte offset in short form. Texts never reach 4 GiB: the limit is 100 KB.
pub(super) fn position(offset: usize) -> u32 {
    u32::try_from(offset).expect("texts are limited to far less than 4 GiB")
}

impl Folded {
    /// Folds a text.
    pub fn new(original: &str) -> Self {
        let has_controls = original
            .bytes()
            .fold(false, |any, b| any | b.is_ascii_control());
        if original.is_ascii() && (!has_controls || original.bytes().all(is_plain)) {
            let lower = original.to_ascii_lowercase();
            let text = if has_controls {
                lower.replace(['\t', '\n', '\u{0B}', '\u{0C}', '\r'], " ")
            } else {
                lower
            };
            return Self {
                text,
                origin: Origin::Same,
                mixed: Vec::new(),
                turns: false,
            };
        }
        let mut folding = Folding::with_capacity(original.len());
        let mut at = 0;
        while let Some(c) = original[at..].chars().next() {
            let rest = original[at..].bytes();
            let ascii = rest.take_while(u8::is_ascii).count();
            folding.fold_ascii(&original[at..at + ascii], at);
            at += ascii;
            if ascii == 0 {
                let from = position(at);
                at += c.len_utf8();
                folding.fold(
                    c,
                    Source {
                        from,
                        to: position(at),
                    },
                );
            }
        }
        Self::from(folding)
    }

    /// Folds characters in any order. Each is a place in the original, the character that stands there,
    /// and the one that is read.
    pub(super) fn of(bytes: usize, characters: impl Iterator<Item = (usize, char, char)>) -> Self {
        let mut folding = Folding::with_capacity(bytes);
        for (from, original, c) in characters {
            let to = position(from + original.len_utf8());
            let from = position(from);
            folding.fold(c, Source { from, to });
        }
        Self::from(folding)
    }

    /// The same text with other words in some places. Returns also the new places.
    pub(super) fn with_words(&self, words: &[(Range<usize>, String)]) -> (Self, Vec<Range<usize>>) {
        let mut text = String::with_capacity(self.text.len());
        let mut sources = Vec::with_capacity(self.text.len());
        let mut places = Vec::with_capacity(words.len());
        let mut done = 0;
        let copy = |range: Range<usize>, text: &mut String, sources: &mut Vec<Source>| {
            text.push_str(&self.text[range.clone()]);
            sources.extend(range.map(|at| self.source(at)));
        };
        for (at, word) in words {
            copy(done..at.start, &mut text, &mut sources);
            done = at.end;
            let start = text.len();
            text.push_str(word);
            let letters = self.text[at.clone()].char_indices();
            for ((from, _), c) in letters.zip(word.chars()) {
                sources.resize(sources.len() + c.len_utf8(), self.source(at.start + from));
            }
            places.push(start..text.len());
        }
        copy(done..self.text.len(), &mut text, &mut sources);
        let with_words = Self {
            text,
            origin: Origin::Mapped(sources),
            mixed: Vec::new(),
            turns: false,
        };
        (with_words, places)
    }

    /// The words that mix scripts, in their order.
    pub(super) fn mixed(&self) -> &[Mixed] {
        &self.mixed
    }

    /// Whether the text has upside-down letters, or changes its direction.
    pub(super) const fn turns(&self) -> bool {
        self.turns
    }

    /// Whether the original is ASCII, and nothing was moved.
    pub(super) const fn is_same(&self) -> bool {
        matches!(self.origin, Origin::Same)
    }

    /// The folded text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes of the original that a non-empty range of the folded text stands for. Both ends
    /// are character boundaries of the original.
    pub fn original_span(&self, folded: Range<usize>) -> Range<usize> {
        match &self.origin {
            Origin::Same => folded,
            Origin::Mapped(sources) => {
                // In a part that was turned, the last character comes from the first.
                let (first, last) = (sources[folded.start], sources[folded.end - 1]);
                first.from.min(last.from) as usize..first.to.max(last.to) as usize
            }
        }
    }

    fn source(&self, at: usize) -> Source {
        match &self.origin {
            Origin::Same => Source {
                from: position(at),
                to: position(at + 1),
            },
            Origin::Mapped(sources) => sources[at],
        }
    }

    /// The range of the folded text that a range of the original became; empty if all of it was
    /// invisible.
    pub fn folded_span(&self, original: &Range<usize>) -> Range<usize> {
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

impl From<Folding> for Folded {
    fn from(mut folding: Folding) -> Self {
        folding.end();
        Self {
            text: folding.text,
            origin: Origin::Mapped(folding.sources),
            mixed: folding.mixed,
            turns: folding.turns,
        }
    }
}

/// ASCII that is seen.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests;
