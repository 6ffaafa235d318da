//! The members of a chat model: its style, its policy, and how requests to it look.

use std::path::Path;

use anyhow::{Context as _, anyhow, bail, ensure};
use domain::policy::Policy;
use serde::Deserialize;
use workers::provider::{AnswerFormat, Chat, ChatSettings, MostTokens, Style};

use super::{Entry, connection::within, credentials::read};

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StyleName {
    LlamaGuard,
    Policy,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FormatName {
    JsonSchema,
    JsonObject,
    Words,
}

impl Entry {
    pub(super) fn style(&self, directory: &Path) -> anyhow::Result<Style> {
        let style = self
            .style
            .context("it needs its style, llama_guard or policy")?;
        if let (StyleName::LlamaGuard, Some(model)) = (style, &self.model) {
            Chat::has_known_hazards(model).map_err(|wrong| anyhow!("its model {wrong}"))?;
        }
        match (style, &self.policy_file) {
            (StyleName::LlamaGuard, None) => Ok(Style::LlamaGuard),
            (StyleName::LlamaGuard, Some(_)) => bail!("its style has no member policy_file"),
            (StyleName::Policy, None) => bail!("it needs a policy_file"),
            (StyleName::Policy, Some(path)) => {
                let usual = read("policy_file", &directory.join(path))?;
                let usual =
                    Policy::try_from(usual).map_err(|error| anyhow!("its policy {error}"))?;
                Ok(Style::Policy {
                    usual: usual.into(),
                })
            }
        }
    }

    pub(super) fn chat_settings(&self) -> anyhow::Result<ChatSettings> {
        let most = |member, given: Option<u64>| -> anyhow::Result<Option<u32>> {
            let given = given.map(|given| within(member, Some(given), given, 16..=1_000_000));
            Ok(given.transpose()?.map(u32::try_from).transpose()?)
        };
        let answer = most("max_tokens", self.max_tokens)?;
        let completion = most("max_completion_tokens", self.max_completion_tokens)?;
        ensure!(
            answer.is_none() || completion.is_none(),
            "it has max_tokens and max_completion_tokens; give only one"
        );
        let path = self.path.as_deref().unwrap_or(ChatSettings::PATH);
        ensure!(
            path.starts_with('/') && !path.contains(['?', '#']),
            "its path must begin with / and have no query and no fragment"
        );
        Ok(ChatSettings {
            path: path.to_owned(),
            most_tokens: answer
                .map(MostTokens::Answer)
                .or(completion.map(MostTokens::Completion)),
            answer_format: match self.answer_format {
                None | Some(FormatName::JsonSchema) => AnswerFormat::Schema,
                Some(FormatName::JsonObject) => AnswerFormat::Object,
                Some(FormatName::Words) => AnswerFormat::Words,
            },
            temperature: self.temperature.unwrap_or(true),
        })
    }
}
