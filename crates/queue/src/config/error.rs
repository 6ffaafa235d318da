//! A setting that is refused.

/// A setting that is not valid, and what it may be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(pub(super) String);

pub(super) fn ensure(holds: bool, message: impl FnOnce() -> String) -> Result<(), SettingsError> {
    if holds {
        Ok(())
    } else {
        Err(SettingsError(message()))
    }
}
