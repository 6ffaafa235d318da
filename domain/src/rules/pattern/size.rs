//! How large a pattern is in truth.

use regex_syntax::hir::{Hir, HirKind};

/// The bytes and classes that a pattern has once its repetitions are written out; saturating. An automaton can be in
/// so many states at once, which the size of the automaton in memory does not tell: a Unicode class is large there
/// and costs no more than an ASCII one.
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
            // Without an upper bound the last copy loops.
            let copies = repetition.max.unwrap_or(repetition.min.max(1));
            positions(&repetition.sub).saturating_mul(usize::try_from(copies).unwrap_or(usize::MAX))
        }
    }
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
}
