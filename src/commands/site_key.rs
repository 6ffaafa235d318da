//! The site key of commands that are clients of a running service.

use std::path::Path;

use anyhow::Context as _;
use domain::key::SiteKey;

/// The key in this file.
///
/// # Errors
/// The file cannot be read, or has no site key.
pub(super) fn read(file: &Path) -> anyhow::Result<SiteKey> {
    let key = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read the key {}", file.display()))?;
    key.trim().parse().map_err(|_| {
        let file = file.display();
        anyhow::anyhow!("{file} has no site key: one begins with site_")
    })
}
