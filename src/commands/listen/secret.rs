//! The webhook secret of `listen`, and where it comes from.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use domain::signature::WebhookSecret;
use serde::Deserialize;

use super::Defaults;

/// What to do when there is no secret.
pub(super) const GIVE_ONE: &str = "Give the site's webhook secret with --secret-file, GATEHOUSE_WEBHOOK_SECRET, --secret or --demo";

/// Where the secret comes from.
#[derive(Debug)]
pub(super) enum Secret {
    Given(WebhookSecret),
    /// It is read again for every event, because `gatehouse up` may write it after this command
    /// started.
    InFile(PathBuf),
    Unknown,
}

impl Secret {
    pub(super) fn chosen(
        given: Option<WebhookSecret>,
        file: Option<PathBuf>,
        demo: Option<PathBuf>,
        defaults: Defaults,
    ) -> anyhow::Result<Self> {
        Ok(match (given, file, demo) {
            (Some(secret), _, _) => Self::Given(secret),
            (None, Some(file), _) => Self::Given(read_secret(&file)?),
            (None, None, Some(demo)) => Self::InFile(demo),
            (None, None, None) => match (defaults.secret, defaults.demo) {
                (Some(secret), _) => Self::Given(secret),
                (None, Some(demo)) => Self::InFile(demo),
                (None, None) => Self::Unknown,
            },
        })
    }

    pub(super) fn load(&self) -> Result<WebhookSecret, String> {
        match self {
            Self::Given(secret) => Ok(secret.clone()),
            Self::InFile(path) => {
                read_demo(path).map_err(|error| format!("{}: {error:#}", path.display()))
            }
            Self::Unknown => Err(GIVE_ONE.to_owned()),
        }
    }
}

pub(super) fn read_secret(path: &Path) -> anyhow::Result<WebhookSecret> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the webhook secret in {}", path.display()))?;
    let secret = text.trim().parse();
    secret.with_context(|| format!("the webhook secret in {} is unusable", path.display()))
}

pub(super) fn read_demo(path: &Path) -> anyhow::Result<WebhookSecret> {
    #[derive(Deserialize)]
    struct Demo {
        webhook_secret: String,
    }
    let demo: Demo = serde_json::from_slice(&std::fs::read(path)?)?;
    Ok(demo.webhook_secret.parse()?)
}
