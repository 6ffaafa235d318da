//! Why no image of an item is stored.

/// Why no image of an item is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoImage {
    /// The item is a text.
    #[error("The item has no image.")]
    Text,
    /// Its image is at a URL.
    #[error("The image has not been fetched from its URL yet.")]
    NotYetFetched,
    /// Its image could not be fetched.
    #[error("The image could not be fetched from its URL.")]
    NotFetched,
    /// What was at its URL is not kept.
    #[error("What was fetched from the item's URL is no image of a format that is kept.")]
    NeverKept,
    /// The retention has removed it.
    #[error("The image is no longer stored: the retention of its site has removed it.")]
    Removed,
}
