//! Whether an account can enter a directory.

use std::{fs, path::Path};

use anyhow::{Context as _, bail};

use super::SystemAccount;

impl SystemAccount {
    /// Makes sure that this account can pass through a directory and everything above it.
    ///
    /// # Errors
    /// One line that names the closed directory and says what to do.
    pub(crate) fn reach(&self, directory: &Path) -> anyhow::Result<()> {
        use std::os::unix::fs::MetadataExt as _;

        for step in directory.ancestors() {
            let metadata = fs::metadata(step)
                .with_context(|| format!("cannot look into {}", step.display()))?;
            let passable = if metadata.uid() == self.uid.as_raw() {
                0o100
            } else if self
                .groups
                .iter()
                .any(|group| group.as_raw() == metadata.gid())
            {
                0o010
            } else {
                0o001
            };
            if metadata.mode() & passable == 0 {
                bail!(
                    "the user `{0}`, as whom Gatehouse runs, cannot enter {1}: choose a --data-dir elsewhere, such as \
                     /var/lib/gatehouse, or open the way with `chmod o+x {1}`",
                    self.name,
                    step.display()
                );
            }
        }
        Ok(())
    }
}
