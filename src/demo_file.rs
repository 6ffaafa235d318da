//! `demo.json` in the data directory: how to use the demo team and site that `gatehouse up` created.

use std::{fs, path::Path};

use anyhow::Context as _;
use domain::id::{EndpointId, RuleGroupId, SiteId, TeamId};
use serde::{Deserialize, Serialize};
use url::Url;
use workers::outbound::{Exemption, HostPort};

use crate::data_dir::{Audience, DataDir};

/// Its name in the data directory.
pub(crate) const FILE: &str = "demo.json";

/// The content of `demo.json`: everything that a first request needs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Demo {
    /// The URL of the public interface, with its prefix.
    pub(crate) base_url: String,
    pub(crate) metrics_url: String,
    pub(crate) team_id: TeamId,
    pub(crate) site_id: SiteId,
    /// Its default rule group.
    pub(crate) rule_group_id: RuleGroupId,
    pub(crate) site_key: String,
    /// The secret that signs the site's webhooks.
    pub(crate) webhook_secret: String,
    /// A token for the management interface.
    pub(crate) management_token: String,
    /// The endpoint that `--webhook-url` created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) endpoint_id: Option<EndpointId>,
    /// The URL of the endpoint. Its host and port are exempt from the egress guard for the demo
    /// team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) webhook_url: Option<Url>,
}

impl Demo {
    /// The host and port that webhooks of the demo team can reach although they are not public.
    pub(crate) fn exemption(&self) -> Option<Exemption> {
        Some(Exemption {
            target: HostPort::of(self.webhook_url.as_ref()?)?,
            team: Some(self.team_id),
        })
    }
}

/// Reads the `demo.json` of a data directory. `None`: there is none.
pub(crate) fn read(directory: &Path) -> anyhow::Result<Option<Demo>> {
    let path = directory.join(FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let demo = serde_json::from_str(&text).with_context(|| {
        format!(
            "{} cannot be read; remove it, and the next start issues a new key",
            path.display()
        )
    })?;
    Ok(Some(demo))
}

/// Writes it, readable only for its owner.
pub(crate) fn write(data: &DataDir, demo: &Demo) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(demo)?;
    text.push('\n');
    data.write(FILE, text.as_bytes(), Audience::Owner)
}
