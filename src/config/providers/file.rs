//! The file that describes providers. Whatever cannot be meant is refused in one line that names the provider.

#[cfg(test)]
mod tests;

use std::{
    fs,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, anyhow, bail, ensure};
use domain::{breaker::BreakerSettings, policy::Policy, score::Category};
use serde::Deserialize;
use url::Url;
use workers::provider::{
    Auth, Builtin, Chat, Http, OpenAi, Provider, ProviderError, Providers, Remote, Style,
};

use super::{CONCURRENCY, DEADLINE, LONGEST_DEADLINE_SECONDS};
use crate::config::variable;

/// Each is a value of metric labels, and an item may have to be shown to all.
const MOST_PROVIDERS: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    provider: Vec<Entry>,
}

/// One provider as it stands there. Which members it may have depends on its kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    kind: Kind,
    url: Option<Url>,
    model: Option<String>,
    style: Option<StyleName>,
    policy_file: Option<PathBuf>,
    key_env: Option<String>,
    key_file: Option<PathBuf>,
    auth: Option<AuthName>,
    categories: Option<Vec<Category>>,
    deadline_seconds: Option<u64>,
    concurrency: Option<u64>,
    piece_bytes: Option<u64>,
    breaker_failures: Option<u64>,
    breaker_seconds: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Builtin,
    Openai,
    Chat,
    Http,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StyleName {
    LlamaGuard,
    Policy,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AuthName {
    Bearer,
    Hmac,
}

/// Reads the file and sets the providers up.
pub(super) fn load(path: &Path) -> anyhow::Result<Providers> {
    let shown = path.display();
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the providers in {shown}"))?;
    let directory = path.parent().unwrap_or(Path::new("."));
    parse(&text, directory).map_err(|error| anyhow!("the providers in {shown}: {error:#}"))
}

fn parse(text: &str, directory: &Path) -> anyhow::Result<Providers> {
    let file: File = toml::from_str(text).map_err(|error| {
        let line = error
            .span()
            .map(|span| text[..span.start].matches('\n').count() + 1);
        let place = line
            .map(|line| format!("line {line}: "))
            .unwrap_or_default();
        anyhow!("{place}{}", error.message().replace('\n', " "))
    })?;
    ensure!(!file.provider.is_empty(), "there is no [[provider]]");
    ensure!(
        file.provider.len() <= MOST_PROVIDERS,
        "there are more than {MOST_PROVIDERS}"
    );
    let mut providers: Vec<Arc<dyn Provider>> = Vec::new();
    for entry in file.provider {
        let name = entry.name.clone();
        ensure!(
            is_name(&name),
            "{name:?} is no name: it has 1 to 40 of a-z, 0-9, _ and -, a letter first"
        );
        if providers.iter().any(|known| known.name() == name) {
            bail!("there are two with the name {name}");
        }
        let provider = entry.provider(directory).with_context(|| name.clone())?;
        providers.push(provider);
    }
    Ok(providers.into())
}

fn is_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    (1..=40).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(allowed)
}

impl Entry {
    fn provider(self, directory: &Path) -> anyhow::Result<Arc<dyn Provider>> {
        self.check_members()?;
        let failed = |error: ProviderError| anyhow!("its client cannot be set up: {error}");
        Ok(match self.kind {
            Kind::Builtin => {
                let categories = self.categories(Some(Builtin::CATEGORIES), Builtin::CATEGORIES)?;
                Arc::new(Builtin::new(self.name, categories))
            }
            Kind::Openai => {
                let url = self.url.clone().unwrap_or(OpenAi::URL.parse()?);
                let categories = self.categories(Some(OpenAi::CATEGORIES), OpenAi::CATEGORIES)?;
                let auth = self.auth(directory)?;
                ensure!(
                    !matches!(auth, Auth::Nothing),
                    "it needs its key, in key_env or key_file"
                );
                let remote = self.remote(url, auth, categories, OpenAi::PIECE_BYTES)?;
                let model = self.model.unwrap_or_else(|| OpenAi::MODEL.to_owned());
                Arc::new(OpenAi::new(remote, model).map_err(failed)?)
            }
            Kind::Chat => {
                let url = self.url.clone().context("it needs its url")?;
                let style = self.style(directory)?;
                let can = Chat::categories_of(&style);
                let usual = matches!(style, Style::LlamaGuard).then_some(can);
                let categories = self.categories(usual, can)?;
                let auth = self.auth(directory)?;
                let remote = self.remote(url, auth, categories, Chat::PIECE_BYTES)?;
                let model = self.model.context("it needs its model")?;
                Arc::new(Chat::new(remote, model, style).map_err(failed)?)
            }
            Kind::Http => {
                let url = self.url.clone().context("it needs its url")?;
                let categories = self.categories(None, &Category::ALL)?;
                let auth = self.auth(directory)?;
                let remote = self.remote(url, auth, categories, Http::PIECE_BYTES)?;
                Arc::new(Http::new(remote).map_err(failed)?)
            }
        })
    }

    /// Refuses members that another kind has: they would be meant to do something, and do nothing.
    fn check_members(&self) -> anyhow::Result<()> {
        use Kind::{Chat, Http, Openai};
        let members: [(&str, bool, &[Kind]); 12] = [
            ("url", self.url.is_some(), &[Openai, Chat, Http]),
            ("model", self.model.is_some(), &[Openai, Chat]),
            ("style", self.style.is_some(), &[Chat]),
            ("policy_file", self.policy_file.is_some(), &[Chat]),
            ("key_env", self.key_env.is_some(), &[Openai, Chat, Http]),
            ("key_file", self.key_file.is_some(), &[Openai, Chat, Http]),
            ("auth", self.auth.is_some(), &[Http]),
            (
                "deadline_seconds",
                self.deadline_seconds.is_some(),
                &[Openai, Chat, Http],
            ),
            (
                "concurrency",
                self.concurrency.is_some(),
                &[Openai, Chat, Http],
            ),
            (
                "piece_bytes",
                self.piece_bytes.is_some(),
                &[Openai, Chat, Http],
            ),
            (
                "breaker_failures",
                self.breaker_failures.is_some(),
                &[Openai, Chat, Http],
            ),
            (
                "breaker_seconds",
                self.breaker_seconds.is_some(),
                &[Openai, Chat, Http],
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

    /// The categories that are named, or the usual ones; each one that it can score.
    fn categories(
        &self,
        usual: Option<&[Category]>,
        can: &[Category],
    ) -> anyhow::Result<Vec<Category>> {
        let Some(named) = &self.categories else {
            let usual = usual.context("it needs the categories that it is to score")?;
            return Ok(usual.to_vec());
        };
        ensure!(!named.is_empty(), "its categories are none");
        if let Some(other) = named.iter().find(|category| !can.contains(category)) {
            bail!("it cannot score {other}");
        }
        let in_order = Category::ALL.into_iter();
        Ok(in_order
            .filter(|category| named.contains(category))
            .collect())
    }

    fn style(&self, directory: &Path) -> anyhow::Result<Style> {
        let style = self
            .style
            .context("it needs its style, llama_guard or policy")?;
        match (style, &self.policy_file) {
            (StyleName::LlamaGuard, None) => Ok(Style::LlamaGuard),
            (StyleName::LlamaGuard, Some(_)) => bail!("its style has no member policy_file"),
            (StyleName::Policy, None) => bail!("it needs a policy_file"),
            (StyleName::Policy, Some(path)) => {
                let usual = read(&directory.join(path))?;
                let usual =
                    Policy::try_from(usual).map_err(|error| anyhow!("its policy {error}"))?;
                Ok(Style::Policy {
                    usual: usual.into(),
                })
            }
        }
    }

    fn auth(&self, directory: &Path) -> anyhow::Result<Auth> {
        let key = match (&self.key_env, &self.key_file) {
            (Some(_), Some(_)) => bail!("it has key_env and key_file; give one"),
            (Some(name), None) => {
                let key = variable(name)?;
                Some(key.with_context(|| format!("the variable {name} with its key is not set"))?)
            }
            (None, Some(path)) => Some(read(&directory.join(path))?),
            (None, None) => None,
        };
        // What cannot stand in a header would fail with every request.
        let usable = |key: &String| !key.is_empty() && key.chars().all(|c| c.is_ascii_graphic());
        ensure!(
            key.as_ref().is_none_or(usable),
            "its key is empty or has characters other than printable ASCII"
        );
        match (key, self.auth) {
            (None, None) => Ok(Auth::Nothing),
            (None, Some(_)) => bail!("it has auth and no key"),
            (Some(key), None | Some(AuthName::Bearer)) => Ok(Auth::Bearer(key)),
            (Some(key), Some(AuthName::Hmac)) => Ok(Auth::Hmac(key)),
        }
    }

    fn remote(
        &self,
        url: Url,
        auth: Auth,
        categories: Vec<Category>,
        piece_bytes: usize,
    ) -> anyhow::Result<Remote> {
        let plain =
            url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        ensure!(
            matches!(url.scheme(), "http" | "https") && url.has_host() && plain,
            "its url is not http or https, or has a user or a fragment"
        );
        let usual = BreakerSettings::default();
        let first = usual.first.as_secs();
        let longest = usual.longest.as_secs();
        let deadline = self.deadline_seconds;
        let deadline = within(
            "deadline_seconds",
            deadline,
            DEADLINE.as_secs(),
            1..=LONGEST_DEADLINE_SECONDS,
        )?;
        let concurrency = within(
            "concurrency",
            self.concurrency,
            CONCURRENCY as u64,
            1..=1_000,
        )?;
        let pieces = within(
            "piece_bytes",
            self.piece_bytes,
            piece_bytes as u64,
            1_000..=102_400,
        )?;
        let failures = self.breaker_failures;
        let failures = within(
            "breaker_failures",
            failures,
            usual.failures.into(),
            1..=1_000,
        )?;
        let wait = within("breaker_seconds", self.breaker_seconds, first, 1..=longest)?;
        Ok(Remote {
            name: self.name.clone(),
            url,
            auth,
            categories,
            deadline: Duration::from_secs(deadline),
            concurrency: usize::try_from(concurrency)?,
            breaker: BreakerSettings {
                failures: u32::try_from(failures)?,
                first: Duration::from_secs(wait),
                ..usual
            },
            piece_bytes: usize::try_from(pieces)?,
        })
    }
}

fn within(
    member: &str,
    given: Option<u64>,
    usual: u64,
    range: RangeInclusive<u64>,
) -> anyhow::Result<u64> {
    let value = given.unwrap_or(usual);
    let (least, most) = (range.start(), range.end());
    ensure!(
        range.contains(&value),
        "its {member} is not from {least} to {most}"
    );
    Ok(value)
}

fn read(path: &Path) -> anyhow::Result<String> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.trim().to_owned())
}
