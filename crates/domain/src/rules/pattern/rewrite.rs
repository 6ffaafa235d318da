//! Patterns that are less exact than the originals, so that they can be checked quickly.

use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
};

/// How to replace the edges of Unicode words, which an automaton cannot detect in texts that are
/// not ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edges {
    /// With the edges of ASCII words, which are the same in a text of ASCII.
    Ascii,
    /// With nothing, so that the pattern matches wherever it did, and in other places, too.
    Anywhere,
}

/// The pattern with these edges of words.
pub(super) fn with_edges(hir: &Hir, edges: Edges) -> Hir {
    rewrite(hir, &|leaf| {
        let ascii = match leaf.kind() {
            HirKind::Look(Look::WordUnicode) => Look::WordAscii,
            HirKind::Look(Look::WordUnicodeNegate) => Look::WordAsciiNegate,
            HirKind::Look(Look::WordStartUnicode) => Look::WordStartAscii,
            HirKind::Look(Look::WordEndUnicode) => Look::WordEndAscii,
            HirKind::Look(Look::WordStartHalfUnicode) => Look::WordStartHalfAscii,
            HirKind::Look(Look::WordEndHalfUnicode) => Look::WordEndHalfAscii,
            _ => return leaf.clone(),
        };
        match edges {
            Edges::Ascii => Hir::look(ascii),
            Edges::Anywhere => Hir::empty(),
        }
    })
}

/// The pattern with small ASCII letters instead of capital ones: where it matched, the new one
/// matches in small letters.
pub(super) fn in_small_letters(hir: &Hir) -> Hir {
    rewrite(hir, &|leaf| match leaf.kind() {
        HirKind::Literal(literal) => Hir::literal(literal.0.to_ascii_lowercase()),
        HirKind::Class(Class::Unicode(class)) => {
            let capitals = ClassUnicode::new([ClassUnicodeRange::new('A', 'Z')]);
            let mut letters = class.clone();
            letters.intersect(&capitals);
            let small = letters.iter().map(|range| {
                ClassUnicodeRange::new(
                    range.start().to_ascii_lowercase(),
                    range.end().to_ascii_lowercase(),
                )
            });
            let mut rest = class.clone();
            rest.difference(&capitals);
            rest.union(&ClassUnicode::new(small));
            Hir::class(Class::Unicode(rest))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let capitals = ClassBytes::new([ClassBytesRange::new(b'A', b'Z')]);
            let mut letters = class.clone();
            letters.intersect(&capitals);
            let small = letters.iter().map(|range| {
                ClassBytesRange::new(
                    range.start().to_ascii_lowercase(),
                    range.end().to_ascii_lowercase(),
                )
            });
            let mut rest = class.clone();
            rest.difference(&capitals);
            rest.union(&ClassBytes::new(small));
            Hir::class(Class::Bytes(rest))
        }
        _ => leaf.clone(),
    })
}

/// The pattern with its literals, classes and assertions replaced.
fn rewrite(hir: &Hir, leaf: &impl Fn(&Hir) -> Hir) -> Hir {
    let all = |parts: &[Hir]| parts.iter().map(|part| rewrite(part, leaf)).collect();
    match hir.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => leaf(hir),
        HirKind::Capture(capture) => rewrite(&capture.sub, leaf),
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
        HirKind::Repetition(repetition) => {
            let mut repetition = repetition.clone();
            repetition.sub = Box::new(rewrite(&repetition.sub, leaf));
            Hir::repetition(repetition)
        }
    }
}
