//! Hosts among text without spaces: 詳しくは例え.jpへ. No letter tells where such a host begins.

use std::ops::Range;

use super::{Certainty, MOST_GLUED, Mention, Name, Scan, Start, Tail};
use crate::rules::link::bare_domains::UNSPACED;
use crate::text::is_unspaced;

/// The longest label that is looked for before a dot, and the longest ending after it, in characters.
const LONGEST_LABEL: usize = 16;
const LONGEST_ENDING: usize = 4;

/// Characters after which a new word begins: Japanese particles, and Chinese words for seeing, being and
/// going.
const BREAKS: &str = "はをにでへがとも看见見在去到是问問上请請";

impl Scan<'_> {
    /// Whether the text before this place ends with a letter of a script without spaces.
    pub(super) fn ends_unspaced(&self) -> bool {
        let before = self.folded[..self.at].chars().next_back();
        before.is_some_and(is_letter)
    }

    /// Reads a host from a dot on. Its first label is before the dot.
    pub(super) fn unspaced(&mut self) {
        let first = self.first_label();
        self.at += '.'.len_utf8();
        let rest = &self.folded[self.at..];
        let mut labels = vec![first];
        if rest.starts_with(is_letter) {
            let Some(end) = self.unspaced_ending() else {
                return;
            };
            labels.push(self.at..end);
            self.at = end;
        } else {
            let mut run = self.run(Start::Bare);
            self.cut_particle(&mut run);
            labels.extend(run.labels);
        }
        while labels.len() > 1 && !self.has_known_suffix(&labels) {
            if labels.len() > MOST_GLUED {
                return;
            }
            labels.pop();
        }
        let [first, .., last] = &labels[..] else {
            return;
        };
        let parts = self.parts(&labels);
        let rest = &self.folded[last.end..];
        let name = Name {
            labels: &parts,
            rest,
        };
        let is_likely = rest.starts_with('/') || name.is_unspaced_likely();
        let link = if is_likely {
            Certainty::Likely
        } else {
            Certainty::Possible
        };
        let tails = if self.with_tails {
            self.tails(first, &labels[1..])
        } else {
            Vec::new()
        };
        self.found.push(Mention {
            at: first.start..last.end,
            exact: self.exact(&labels),
            seen: None,
            tails,
            link,
        });
        self.in_tail = rest.starts_with('/');
    }

    fn first_label(&self) -> Range<usize> {
        let before = self.folded[..self.at].chars().rev();
        let letters = before.take(LONGEST_LABEL).take_while(|c| is_letter(*c));
        self.at - letters.map(char::len_utf8).sum::<usize>()..self.at
    }

    /// The end of a known ending in a script without spaces. Rare ones are looked for only if a rule lists
    /// a domain of another script, because each costs several lookups.
    fn unspaced_ending(&self) -> Option<usize> {
        let rest = &self.folded[self.at..];
        if let Some(ending) = UNSPACED.iter().find(|ending| rest.starts_with(**ending)) {
            return Some(self.at + ending.len());
        }
        let letters = rest.char_indices().take(LONGEST_ENDING);
        let mut ends = letters.map(|(at, c)| self.at + at + c.len_utf8());
        ends.find(|end| {
            self.with_tails && self.has_known_suffix(std::slice::from_ref(&(self.at..*end)))
        })
    }

    /// The other places where the host may begin.
    fn tails(&self, first: &Range<usize>, others: &[Range<usize>]) -> Vec<Tail> {
        let label = &self.folded[first.clone()];
        let mut before = None;
        let mut tails = Vec::new();
        for (at, c) in label.char_indices() {
            if let Some(before) = before.replace(c) {
                let own = std::iter::once(first.start + at..first.end);
                let labels: Vec<_> = own.chain(others.iter().cloned()).collect();
                tails.extend(self.exact(&labels).map(|host| Tail {
                    host,
                    begins: BREAKS.contains(before),
                }));
            }
        }
        tails
    }
}

/// Whether it is a letter or mark of a script without spaces.
fn is_letter(c: char) -> bool {
    is_unspaced(c) && (c.is_alphanumeric() || crate::text::is_mark(c))
}
