//! The ways in which the fake provider answers.

use std::time::Duration;

use super::Fault;

/// How the fake provider answers. "As documented" means: as the real provider's documentation
/// describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As documented.
    Well,
    /// As documented, after this time.
    Slow(Duration),
    /// As documented, with headers that say: the limit is used up for this long.
    Spent(&'static str),
    /// Never.
    Hang,
    /// With an error of this status.
    Status(u16),
    /// With 429 and this `Retry-After`.
    Limited(&'static str),
    /// As documented, as long as there are tokens. There are this many per minute, and each pays
    /// for four bytes. Without tokens: with 429, and the time until there are enough.
    Bucket(u32),
    /// With an error whose status does not say that it is a limit. The body says so.
    Hidden,
    /// With an error of this status that quotes the text.
    Quoting(u16),
    /// As documented for content that it cannot score.
    Unsure,
    /// As documented, but it cannot score this one of its own categories.
    UnsureOf(&'static str),
    /// With half of an answer.
    Half,
    /// With scores of other categories.
    Foreign,
    /// With something that is no JSON.
    Malformed,
    /// With a body of more than 2 MiB.
    Huge,
    /// By closing the connection.
    Reset,
    /// As documented this many times, then with 500.
    Fails(usize),
    /// With something that is no proper answer. This applies to connections that are opened from
    /// now on.
    Wrong(Fault),
    /// As documented, but texts of more bytes than this get 429 without a `Retry-After`.
    Short(usize),
}
