//! Finds links as people write them, and as they hide them.
//!
//! The scan reads the folded reading, on which look-alike letters are equal. What a browser would
//! open is read from the original. The time is linear in the text: each host is judged once, by at
//! most its last 253 characters.

mod grammar;
mod unspaced;

use std::ops::Range;

use url::Host;

use self::grammar::{
    Start, bracketed, dot, ends_link, host, is_address, is_label, is_range, scheme,
};
use super::{Certainty, Mention, Tail, bare_domains::Name};
use crate::text::{Readings, is_hangul, is_unspaced};

/// The longest name of a host, in bytes.
const LONGEST_HOST: usize = 253;
/// How many words may be glued to the end of a host ("evil.com.Then"). Each costs a lookup in the
/// list of suffixes.
const MOST_GLUED: usize = 3;

/// All hosts that a text names, in their order. `with_tails` asks for [`Mention::tails`].
pub(super) fn mentions(text: &Readings<'_>, with_tails: bool) -> Vec<Mention> {
    let mut scan = Scan {
        text,
        with_tails,
        folded: text.folded().text(),
        at: 0,
        in_tail: false,
        authority: Authority::default(),
        found: Vec::new(),
    };
    while scan.step() {}
    scan.found
}

struct Scan<'a> {
    text: &'a Readings<'a>,
    folded: &'a str,
    with_tails: bool,
    at: usize,
    /// Whether the scan is behind a host, in its path or query.
    in_tail: bool,
    /// The last authority that was read, so that a text full of schemes is not read again for each
    /// of them.
    authority: Authority,
    found: Vec<Mention>,
}

/// What stands between a scheme and a path.
#[derive(Default)]
struct Authority {
    end: usize,
    /// Where the host begins, after a user name.
    host: usize,
}

/// Labels of a host with the dots between them.
#[derive(Default)]
struct Run {
    labels: Vec<Range<usize>>,
    /// The numbers of the labels before which the dot is spelled out ("dot") or has spaces around it.
    spelled: Vec<usize>,
}

impl Scan<'_> {
    /// Goes on to the next host or character; false at the end.
    fn step(&mut self) -> bool {
        let rest = &self.folded[self.at..];
        let Some(c) = rest.chars().next() else {
            return false;
        };
        if let Some(length) = scheme(rest).filter(|_| !self.is_in_word()) {
            self.at += length;
            self.authority();
        } else if is_label(c, Start::Bare) {
            self.bare();
        } else if c == '.' && !self.in_tail && self.ends_unspaced() {
            self.unspaced();
        } else {
            self.in_tail &= !ends_link(c);
            self.at += c.len_utf8();
        }
        true
    }

    fn is_in_word(&self) -> bool {
        let before = self.folded[..self.at].chars().next_back();
        before.is_some_and(|c| is_label(c, Start::Bare))
    }

    /// Reads what follows a scheme: an optional user name, then a host.
    fn authority(&mut self) {
        if self.at >= self.authority.end {
            let rest = &self.folded[self.at..];
            let end = rest
                .find(['/', '?', '#', '\\', ' ', '"', '<', '>'])
                .map_or(self.folded.len(), |length| self.at + length);
            let user = self.folded[self.at..end].rfind('@');
            let host = user.map_or(0, |sign| self.at + sign + 1);
            self.authority = Authority { end, host };
        }
        self.at = self.at.max(self.authority.host);
        let rest = &self.folded[self.at..self.authority.end.max(self.at)];
        if let Some(address) = bracketed(rest) {
            let exact = Host::parse(address).ok().map(|host| host.to_string());
            let at = self.at..self.at + address.len();
            self.push(at, exact, None, Certainty::Certain);
            self.at += address.len();
        } else {
            let mut run = self.run(Start::Scheme);
            self.cut_unspaced(&mut run);
            self.mention(&run.labels, Certainty::Certain);
        }
        self.in_tail = true;
    }

    /// Reads labels without a scheme: a host, or words between full stops.
    fn bare(&mut self) {
        let after_sign = self.folded[..self.at].ends_with('@');
        let mut run = self.run(Start::Bare);
        if run.labels.len() < 2 {
            return;
        }
        self.cut_particle(&mut run);
        let rest = &self.folded[self.at..];
        let is_mail = after_sign || rest.starts_with('@');
        let has_path = rest.starts_with(['/', ':', '?', '#']);
        let is_www = &self.folded[run.labels[0].clone()] == "www";
        let mut labels = &run.labels[..];
        // Words that are glued to the host do not belong to it.
        for _ in 0..MOST_GLUED {
            let is_host = is_www
                || self.has_known_suffix(labels)
                    && (has_path
                        || run.spelled.contains(&(labels.len() - 1))
                        || !self.is_sentence_end(labels));
            if is_host || labels.len() < 2 {
                break;
            }
            labels = &labels[..labels.len() - 1];
        }
        let is_whole = labels.len() == run.labels.len();
        if !is_whole {
            let whole = self.parts(&run.labels);
            let is_number = is_address(&whole) && has_path && !is_range(rest);
            let is_link = is_number && !(self.in_tail || is_mail);
            self.mention(
                &run.labels,
                if is_link {
                    Certainty::Likely
                } else {
                    Certainty::Named
                },
            );
            self.in_tail |= is_link;
        }
        if labels.len() > 1 {
            let is_spelled = run.spelled.iter().any(|label| *label < labels.len());
            let link = if self.in_tail || is_mail {
                Certainty::Named
            } else if is_www {
                Certainty::Certain
            } else if self.has_known_suffix(labels) {
                let rest = &self.folded[labels[labels.len() - 1].end..];
                self.certainty(labels, rest, is_spelled)
            } else {
                Certainty::Named
            };
            self.mention(labels, link);
            self.in_tail |= link > Certainty::Named;
        }
    }

    /// How surely a name without a scheme is a link.
    fn certainty(&self, labels: &[Range<usize>], rest: &str, is_spelled: bool) -> Certainty {
        let labels = self.parts(labels);
        let name = Name {
            labels: &labels,
            rest,
        };
        match (is_spelled, name.is_likely()) {
            (true, _) if name.is_spelled_likely() => Certainty::Likely,
            (true, _) => Certainty::Named,
            (false, true) => Certainty::Likely,
            (false, false) => Certainty::Possible,
        }
    }

    /// The last labels, as many as anything asks for.
    fn parts(&self, labels: &[Range<usize>]) -> Vec<&str> {
        const MOST: usize = 8;
        let labels = &labels[labels.len().saturating_sub(MOST)..];
        labels
            .iter()
            .map(|label| &self.folded[label.clone()])
            .collect()
    }

    /// Reads as many labels as there are.
    fn run(&mut self, start: Start) -> Run {
        let mut run = Run::default();
        let mut is_spelled = false;
        loop {
            let rest = &self.folded[self.at..];
            let length = rest.find(|c| !is_label(c, start)).unwrap_or(rest.len());
            if length == 0 {
                return run;
            }
            run.labels.push(self.at..self.at + length);
            if is_spelled {
                run.spelled.push(run.labels.len() - 1);
            }
            self.at += length;
            let rest = &self.folded[self.at..];
            let Some((dot, spelled)) = dot(rest) else {
                return run;
            };
            if !rest[dot..].starts_with(|c| is_label(c, start)) {
                return run;
            }
            is_spelled = spelled;
            self.at += dot;
        }
    }

    /// Chinese and similar scripts need no space after a link: `https://example.com看` ends before
    /// the sign.
    fn cut_unspaced(&self, run: &mut Run) {
        let Some(last) = run.labels.last_mut() else {
            return;
        };
        let label = &self.folded[last.clone()];
        if label.starts_with(|c: char| c.is_ascii())
            && let Some(end) = label.find(is_unspaced)
        {
            last.end = last.start + end;
        }
    }

    /// Korean particles need no space after a link either: `example.com에서`.
    fn cut_particle(&mut self, run: &mut Run) {
        let Some(last) = run.labels.last_mut() else {
            return;
        };
        let label = &self.folded[last.clone()];
        if label.starts_with(|c: char| c.is_ascii())
            && let Some(end) = label.find(is_hangul)
        {
            last.end = last.start + end;
            self.at = last.end;
        }
    }

    fn has_known_suffix(&self, labels: &[Range<usize>]) -> bool {
        let known = |host: Option<String>| {
            host.is_some_and(|host| psl::suffix(host.as_bytes()).is_some_and(|s| s.is_known()))
        };
        let labels = &labels[labels.len().saturating_sub(MOST_GLUED)..];
        known(self.exact(labels)) || known(self.seen(labels))
    }

    /// Whether the last dot ends a sentence, and the next one follows without a space: "the
    /// end.Next".
    fn is_sentence_end(&self, labels: &[Range<usize>]) -> bool {
        let [.., before, last] = labels else {
            return false;
        };
        let mut next = self.original(last).chars();
        next.next().is_some_and(char::is_uppercase)
            && next.next().is_none_or(char::is_lowercase)
            && self
                .original(before)
                .chars()
                .next_back()
                .is_some_and(char::is_lowercase)
    }

    fn original(&self, label: &Range<usize>) -> &str {
        &self.text.original()[self.text.original_span(label.clone())]
    }

    fn mention(&mut self, labels: &[Range<usize>], link: Certainty) {
        let mut left = LONGEST_HOST;
        let fits = |label: &&Range<usize>| {
            left = left.saturating_sub(label.len() + 1);
            left > 0
        };
        let labels = &labels[labels.len() - labels.iter().rev().take_while(fits).count()..];
        let ([first, ..], [.., last]) = (labels, labels) else {
            return;
        };
        let (exact, seen) = (self.exact(labels), self.seen(labels));
        self.push(first.start..last.end, exact, seen, link);
    }

    fn push(
        &mut self,
        at: Range<usize>,
        exact: Option<String>,
        seen: Option<String>,
        link: Certainty,
    ) {
        self.found.push(Mention {
            at,
            seen: seen.filter(|seen| exact.as_ref() != Some(seen)),
            exact,
            tails: Vec::new(),
            link,
        });
    }

    fn exact(&self, labels: &[Range<usize>]) -> Option<String> {
        host(labels.iter().map(|label| self.original(label)))
    }

    fn seen(&self, labels: &[Range<usize>]) -> Option<String> {
        host(labels.iter().map(|label| &self.folded[label.clone()]))
    }
}
