//! The folded reading: differences that do not matter to a reader are removed.

mod folding;

use std::ops::Range;

use self::folding::Folding;

/// A text in lower case, NFKC, without decorating marks and invisible characters, with ASCII for
/// look-alikes and a space for each whitespace. Each byte knows the original character that it came
/// from.
pub(crate) struct Folded {
    text: String,
    origin: Origin,
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

    /// The bytes of the original that a non-empty range of the folded text stands for. Both ends
    /// are character boundaries of the original.
    pub(crate) fn original_span(&self, folded: Range<usize>) -> Range<usize> {
        match &self.origin {
            Origin::Same => folded,
            Origin::Mapped(sources) => {
                sources[folded.start].from as usize..sources[folded.end - 1].to as usize
            }
        }
    }

    /// The range of the folded text that a range of the original became; empty if all of it was
    /// invisible.
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

#[cfg(test)]
mod tests;
