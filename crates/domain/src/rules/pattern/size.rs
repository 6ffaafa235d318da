//! How large a pattern really is.

use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::ast::{Ast, RepetitionKind, RepetitionRange};
use regex_syntax::hir::{Class, Hir, HirKind};

/// The number of bytes and classes of a pattern whose repetitions are written out; saturating. An
/// automaton can be in this many states at once. Its size in memory does not show that: a Unicode
/// class is large there, but costs no more than an ASCII one.
pub(super) fn positions(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(_) => 1,
        HirKind::Capture(capture) => positions(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(positions).fold(0, usize::saturating_add)
        }
        HirKind::Repetition(repetition) => {
            // Without an upper limit, the last copy loops.
            let copies = repetition.max.unwrap_or(repetition.min.max(1));
            positions(&repetition.sub).saturating_mul(usize::try_from(copies).unwrap_or(usize::MAX))
        }
    }
}

/// The memory of a parsed pattern, in bytes, approximately.
pub(super) fn hir_bytes(hir: &Hir) -> usize {
    let inside = match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(Class::Unicode(class)) => size_of_val(class.ranges()),
        HirKind::Class(Class::Bytes(class)) => size_of_val(class.ranges()),
        HirKind::Capture(capture) => hir_bytes(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().map(hir_bytes).sum(),
        HirKind::Repetition(repetition) => hir_bytes(&repetition.sub),
    };
    // Each part also stores its properties.
    size_of::<Hir>() + 96 + inside
}

/// The place of the repetition that makes most of a pattern's positions, in bytes; `None` if there
/// is no repetition. The pattern must have been parsed with the same nesting limit.
pub(super) fn largest_repetition(pattern: &str, nesting: u32) -> Option<usize> {
    let ast = ParserBuilder::new()
        .nest_limit(nesting)
        .build()
        .parse(pattern)
        .ok()?;
    let mut largest = None;
    visit(&ast, &mut largest);
    largest.map(|(_, place)| place)
}

/// The positions of a part of a pattern, counted like [`positions`] except for case folding. Keeps
/// the largest repetition with its place.
fn visit(ast: &Ast, largest: &mut Option<(usize, usize)>) -> usize {
    match ast {
        Ast::Empty(_) | Ast::Flags(_) | Ast::Assertion(_) => 0,
        Ast::Literal(literal) => literal.c.len_utf8(),
        Ast::Dot(_) | Ast::ClassUnicode(_) | Ast::ClassPerl(_) | Ast::ClassBracketed(_) => 1,
        Ast::Group(group) => visit(&group.ast, largest),
        Ast::Alternation(parts) => sum(&parts.asts, largest),
        Ast::Concat(parts) => sum(&parts.asts, largest),
        Ast::Repetition(repetition) => {
            let copies = match &repetition.op.kind {
                RepetitionKind::ZeroOrOne
                | RepetitionKind::ZeroOrMore
                | RepetitionKind::OneOrMore => 1,
                RepetitionKind::Range(
                    RepetitionRange::Exactly(count)
                    | RepetitionRange::AtLeast(count)
                    | RepetitionRange::Bounded(_, count),
                ) => *count,
            };
            let size = visit(&repetition.ast, largest)
                .saturating_mul(usize::try_from(copies).unwrap_or(usize::MAX));
            let place = repetition.op.span.start.offset;
            if largest.is_none_or(|(most, _)| size >= most) {
                *largest = Some((size, place));
            }
            size
        }
    }
}

fn sum(parts: &[Ast], largest: &mut Option<(usize, usize)>) -> usize {
    parts
        .iter()
        .map(|part| visit(part, largest))
        .fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_written_out() {
        for (pattern, expected) in [
            ("abc", 3),
            ("(?i)abc", 3),
            ("a|bc", 3),
            ("\\bx{3}$", 3),
            ("[ab]*c+", 2),
            ("(\\w{2,5}x){10,}", 60),
            ("((a{1000}){1000}){1000}", 1_000_000_000),
        ] {
            assert_eq!(
                positions(&regex_syntax::parse(pattern).unwrap()),
                expected,
                "{pattern}"
            );
        }
    }

    #[test]
    fn the_largest_repetition_is_pointed_at() {
        for (pattern, expected) in [
            ("abc", None),
            ("a*b{2}c{30}d{3}", Some(7)),
            ("(a{10}b){10}", Some(8)),
            ("ä{1000}", Some(2)),
        ] {
            assert_eq!(largest_repetition(pattern, 50), expected, "{pattern}");
        }
    }
}
