//! Which members a kind of provider may have.

use anyhow::ensure;

use super::Entry;
use crate::config::providers::file::kind::Kind;

impl Entry {
    /// Refuses members of other kinds, because they would have no effect.
    pub(super) fn check_members(&self) -> anyhow::Result<()> {
        let members: [(&str, bool, &[Kind]); 33] = [
            ("url", self.url.is_some(), Kind::REMOTE),
            ("region", self.region.is_some(), Kind::OF_AWS),
            ("languages", self.languages.is_some(), &[Kind::Sightengine]),
            (
                "guardrail",
                self.guardrail.is_some(),
                &[Kind::BedrockGuardrail],
            ),
            (
                "guardrail_version",
                self.guardrail_version.is_some(),
                &[Kind::BedrockGuardrail],
            ),
            (
                "model",
                self.model.is_some(),
                &[Kind::Openai, Kind::Chat, Kind::Mistral],
            ),
            ("style", self.style.is_some(), &[Kind::Chat]),
            ("policy_file", self.policy_file.is_some(), &[Kind::Chat]),
            (
                "encoder_file",
                self.encoder_file.is_some(),
                &[Kind::Builtin],
            ),
            ("key_id", self.key_id.is_some(), Kind::WITH_KEY_ID),
            ("key_env", self.key_env.is_some(), Kind::REMOTE),
            ("key_file", self.key_file.is_some(), Kind::REMOTE),
            (
                "session_token_env",
                self.session_token_env.is_some(),
                Kind::OF_AWS,
            ),
            (
                "session_token_file",
                self.session_token_file.is_some(),
                Kind::OF_AWS,
            ),
            ("credentials", self.credentials.is_some(), Kind::OF_AWS),
            ("auth", self.auth.is_some(), &[Kind::Http]),
            (
                "key_header",
                self.key_header.is_some(),
                &[Kind::Chat, Kind::Http],
            ),
            ("headers", self.headers.is_some(), Kind::REMOTE),
            ("proxy", self.proxy.is_some(), Kind::REMOTE),
            (
                "proxy_password_env",
                self.proxy_password_env.is_some(),
                Kind::REMOTE,
            ),
            (
                "proxy_password_file",
                self.proxy_password_file.is_some(),
                Kind::REMOTE,
            ),
            ("path", self.path.is_some(), &[Kind::Chat]),
            ("max_tokens", self.max_tokens.is_some(), &[Kind::Chat]),
            (
                "max_completion_tokens",
                self.max_completion_tokens.is_some(),
                &[Kind::Chat],
            ),
            ("answer_format", self.answer_format.is_some(), &[Kind::Chat]),
            ("temperature", self.temperature.is_some(), &[Kind::Chat]),
            ("modalities", self.modalities.is_some(), Kind::OF_BOTH),
            (
                "deadline_seconds",
                self.deadline_seconds.is_some(),
                Kind::REMOTE,
            ),
            ("concurrency", self.concurrency.is_some(), Kind::REMOTE),
            ("piece_bytes", self.piece_bytes.is_some(), Kind::OF_TEXTS),
            (
                "flagged_at_least",
                self.flagged_at_least.is_some(),
                &[Kind::Openai],
            ),
            (
                "breaker_failures",
                self.breaker_failures.is_some(),
                Kind::REMOTE,
            ),
            (
                "breaker_seconds",
                self.breaker_seconds.is_some(),
                Kind::REMOTE,
            ),
        ];
        for (member, is_there, kinds) in members {
            ensure!(
                !is_there || kinds.contains(&self.kind),
                "its kind has no member {member}"
            );
        }
        Ok(())
    }
}
