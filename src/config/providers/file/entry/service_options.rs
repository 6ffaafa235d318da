//! Members that belong to one service: AWS regions, Bedrock guardrails, the languages of Sightengine.

use anyhow::{Context as _, ensure};
use workers::provider::{GuardrailId, Sightengine};

use super::Entry;

impl Entry {
    pub(super) fn region(&self) -> anyhow::Result<String> {
        let region = self.region.clone().context("it needs its region")?;
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        ensure!(
            !region.is_empty() && region.chars().all(allowed),
            "its region must consist of a-z, 0-9 and -"
        );
        Ok(region)
    }

    pub(super) fn languages(&self) -> anyhow::Result<String> {
        let Some(languages) = &self.languages else {
            return Ok(Sightengine::LANGUAGES.to_owned());
        };
        let is_code =
            |code: &String| code.len() == 2 && code.chars().all(|c| c.is_ascii_lowercase());
        ensure!(
            !languages.is_empty() && languages.iter().all(is_code),
            "its languages must be codes of two letters"
        );
        Ok(languages.join(","))
    }

    pub(super) fn guardrail(&self) -> anyhow::Result<GuardrailId> {
        let id = self.guardrail.clone().context("it needs its guardrail")?;
        let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric());
        ensure!(
            !id.is_empty() && is_plain(&id),
            "its guardrail must be an id of letters and digits"
        );
        let version = self.guardrail_version.clone();
        let version = version.context("it needs its guardrail_version")?;
        let is_number = version.chars().all(|c| c.is_ascii_digit()) && !version.starts_with('0');
        ensure!(
            version == "DRAFT" || !version.is_empty() && is_number,
            "its guardrail_version must be a number or DRAFT"
        );
        Ok(GuardrailId { id, version })
    }
}
