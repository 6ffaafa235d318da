//! A host that a text names.

use std::ops::Range;

use crate::rules::View;

/// A host that a text names.
pub(super) struct Mention {
    /// Bytes of the folded reading.
    pub(super) at: Range<usize>,
    /// As a browser would open it; `None` if a browser would not.
    pub(super) exact: Option<String>,
    /// As a reader sees it, if that differs: `exаmple.com` with a Cyrillic letter is `example.com`
    /// here.
    pub(super) seen: Option<String>,
    /// Where else the host may begin in text without spaces, each as a browser would open it: 例え.jp in
    /// 詳しくは例え.jp. Only if somebody asks for it.
    pub(super) tails: Vec<Tail>,
    /// How surely it is a link.
    pub(super) link: Certainty,
}

/// A part of a host in text without spaces.
pub(super) struct Tail {
    pub(super) host: String,
    /// Whether a new word clearly begins there, so that the host begins there for a reader, too.
    pub(super) begins: bool,
}

/// How surely a host is a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Certainty {
    /// It is only named: in a mail address, or in a path.
    Named,
    /// Its ending is on the public suffix list. It may be a file.
    Possible,
    /// It is almost certainly a link.
    Likely,
    /// It has a scheme, or begins with `www.`.
    Certain,
}

impl Mention {
    /// The reading on which the host stands as it is compared. `written` is its original.
    pub(super) fn view(&self, written: &str) -> View {
        let is_named = |name: &Option<String>| name.as_deref() == Some(written);
        if is_named(&self.exact) {
            View::Original
        } else {
            View::Folded
        }
    }
}

/// A host and the domains above it: `a.b.c`, `b.c`, `c`.
pub(super) fn domains_of(host: &str) -> impl Iterator<Item = &str> {
    let parents = host.match_indices('.').map(|(dot, _)| &host[dot + 1..]);
    std::iter::once(host).chain(parents)
}
