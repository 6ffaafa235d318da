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
    /// Whether it is a link. A mail address, a word of a path or a spelled-out "evil dot com" only
    /// names a host.
    pub(super) is_link: bool,
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
