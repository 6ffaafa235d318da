//! Settings that are wrong whatever the machine and the database look like.

use std::process::ExitCode;

/// An option or a variable that is missing, not valid, or contradicts another one. What is wrong with a file, a port or a database is
/// something else: it can change without these settings.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Invalid(String);

impl Invalid {
    /// The exit code for it, as of a wrong command line. Systemd does not start such a process again, because that would not help.
    const CODE: u8 = 2;

    /// What is wrong with which setting.
    pub(crate) const fn new(words: String) -> Self {
        Self(words)
    }
}

/// The exit code of a command that failed.
pub(crate) fn exit_code(error: &anyhow::Error) -> ExitCode {
    match error.downcast_ref::<Invalid>() {
        Some(_) => Invalid::CODE.into(),
        None => ExitCode::FAILURE,
    }
}

/// Makes an [`Invalid`] from the arguments of `format!`.
macro_rules! invalid {
    ($($words:tt)*) => {
        $crate::config::Invalid::new(format!($($words)*))
    };
}

pub(crate) use invalid;

#[cfg(test)]
mod tests {
    use anyhow::{Context as _, anyhow};

    use super::*;

    #[test]
    fn a_wrong_setting_has_its_exit_code_also_below_and_above_other_errors() {
        let below = anyhow!(invalid!("A is not valid")).context("cannot start");
        let above: anyhow::Result<()> = Err(anyhow!("no base64")).context(invalid!("A is wrong"));
        let absent: anyhow::Result<()> = None.context(invalid!("A is missing"));
        for error in [below, above.unwrap_err(), absent.unwrap_err()] {
            assert_eq!(exit_code(&error), ExitCode::from(2), "{error:#}");
        }
        assert_eq!(exit_code(&anyhow!("no disk")), ExitCode::FAILURE);
    }
}
