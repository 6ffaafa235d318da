//! Why a model's file cannot be used.

/// A model's file cannot be used. It is cut short, changed, or another kind of file.
///
/// The message is one line. It names the part of the file and what is wrong with it, and never shows
/// the file's content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model's file is damaged: {0}")]
pub struct Damaged(String);

impl Damaged {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// The same, in a part of the file.
    pub(crate) fn within(self, part: &str) -> Self {
        Self(format!("{part}: {}", self.0))
    }
}
