//! The options of the command, and the two services that they describe.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use anyhow::{Context as _, ensure};
use clap::ValueEnum;
use domain::key::SiteKey;
use url::Url;

use super::{
    openai, perspective,
    service::{Format, Service},
};
use crate::{
    commands::{http_client::Client, line_files::read_site_key},
    config::service_url,
};

/// Perspective's default quota, in requests per second.
const PERSPECTIVE_RATE: f64 = 1.0;

/// The options of `gatehouse thresholds`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The other service gets the texts of the file. It charges each request, and its terms apply. The key to it is in \
                  OPENAI_API_KEY or PERSPECTIVE_API_KEY. Here, each text becomes an item of the site, as any other submission: use a \
                  site of its own. Its key is in GATEHOUSE_SITE_KEY, unless you give --key-file."
)]
pub(crate) struct Args {
    /// The service that your thresholds are for
    #[arg(long, value_enum)]
    pub(super) from: Source,
    /// The texts: a JSON object on each line, as `gatehouse submit` takes them. Only the member `body` counts. Choose the texts at
    /// random from what your users write
    #[arg(long, value_name = "FILE.ndjson")]
    pub(super) file: PathBuf,
    /// This service, for example <https://gatehouse.example.com>
    #[arg(long, value_name = "URL", value_parser = service_url)]
    pub(super) url: Url,
    /// A file with the site key [default: the variable `GATEHOUSE_SITE_KEY`]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Your threshold for a category there, for example hate=0.7. Give it again for each category. Without it, 0.5
    #[arg(long, value_name = "CATEGORY=NUMBER", value_parser = threshold)]
    threshold: Vec<(String, f64)>,
    /// Keep the scores here, a JSON object on each line without the text. Texts whose scores are there are not sent again, so you
    /// can go on after an interruption, or try other thresholds
    #[arg(long, value_name = "FILE.ndjson")]
    pub(super) scores: Option<PathBuf>,
    /// Ask this service again, and take the scores of the other one from the file of `--scores`: after you have changed the site's
    /// providers
    #[arg(long, requires = "scores")]
    pub(super) again_here: bool,
    /// Where the other service is [default: <https://api.openai.com/v1> or <https://commentanalyzer.googleapis.com>]
    #[arg(long, value_name = "URL", value_parser = service_url)]
    their_url: Option<Url>,
    /// The most requests per second to the other service [default: 1 for Perspective, which is its usual quota; for OpenAI as many as
    /// it accepts]
    #[arg(long, value_name = "NUMBER", value_parser = rate)]
    their_rate: Option<f64>,
    /// The model that your thresholds are for, for OpenAI [default: omni-moderation-latest]
    #[arg(long, value_name = "NAME")]
    their_model: Option<String>,
    /// The language of the texts, for example en, for Perspective. Give it again for several. Without it, Perspective finds out the
    /// language of each text
    #[arg(long, value_name = "TAG")]
    language: Vec<String>,
    /// Texts that are scored at the same time
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(super) connections: u16,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// A service that users come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Source {
    /// OpenAI's moderation endpoint
    Openai,
    /// Perspective's `comments:analyze`
    Perspective,
}

impl Args {
    /// The variable with the key to the other service.
    pub(super) fn key_variable(&self) -> &'static str {
        match self.from {
            Source::Openai => "OPENAI_API_KEY",
            Source::Perspective => "PERSPECTIVE_API_KEY",
        }
    }

    /// What the kept scores of the other service are of: those of another model are not comparable.
    pub(super) fn there(&self) -> String {
        let parts = [
            Some(self.from.as_str()),
            self.their_model.as_deref(),
            self.their_url.as_ref().map(Url::as_str),
        ];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        parts.join(" ")
    }

    /// The user's thresholds by category.
    pub(super) fn thresholds(&self) -> anyhow::Result<BTreeMap<String, f64>> {
        let mut thresholds = BTreeMap::new();
        for (name, value) in &self.threshold {
            ensure!(
                thresholds.insert(name.clone(), *value).is_none(),
                "--threshold has {name} twice"
            );
        }
        Ok(thresholds)
    }

    /// Theirs and ours, with the keys that the environment has: to this service, and to the other one.
    pub(super) fn services(
        &self,
        (site_key, their_key): (Option<SiteKey>, Option<String>),
        thresholds: &BTreeMap<String, f64>,
    ) -> anyhow::Result<(Service, Service)> {
        let from = self.from;
        ensure!(
            from == Source::Openai || self.their_model.is_none(),
            "--their-model is for OpenAI only"
        );
        ensure!(
            from == Source::Perspective || self.language.is_empty(),
            "--language is for Perspective only"
        );
        let site_key = match &self.key_file {
            Some(file) => read_site_key(file)?,
            None => site_key
                .context("there is no site key: set GATEHOUSE_SITE_KEY, or give --key-file")?,
        };
        let variable = self.key_variable();
        let their_key = their_key
            .with_context(|| format!("there is no key to {}: set {variable}", from.name()))?;
        let rate = self
            .their_rate
            .or((from == Source::Perspective).then_some(PERSPECTIVE_RATE));
        let interval = rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(1.0 / rate));
        let format = || match from {
            Source::Openai => Format::OpenAi {
                model: self
                    .their_model
                    .clone()
                    .unwrap_or_else(|| openai::MODEL.to_owned()),
            },
            Source::Perspective => {
                let attributes = perspective::ATTRIBUTES.map(str::to_owned);
                let attributes: BTreeSet<String> = attributes
                    .into_iter()
                    .chain(thresholds.keys().cloned())
                    .collect();
                Format::Perspective(perspective::Asked::new(self.language.clone(), attributes))
            }
        };
        let client = |interval| {
            let user_agent = concat!("gatehouse-thresholds/", env!("CARGO_PKG_VERSION"));
            Client::new(user_agent, interval)
        };
        let their_url = match &self.their_url {
            Some(url) => url.as_str(),
            None => from.default_url(),
        };
        let below = |base: &str, path: &str| -> anyhow::Result<Url> {
            Ok(format!("{}/{path}", base.trim_end_matches('/')).parse()?)
        };
        let theirs = Service {
            name: from.name(),
            client: client(interval)?,
            url: below(their_url, from.operation())?,
            key: their_key,
            format: format(),
        };
        let our_base = below(self.url.as_str(), from.compatible())?;
        let ours = Service {
            name: "Gatehouse",
            client: client(Duration::ZERO)?,
            url: below(our_base.as_str(), from.operation())?,
            key: site_key.expose().to_owned(),
            format: format(),
        };
        Ok((theirs, ours))
    }
}

impl Source {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Perspective => "perspective",
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Openai => "OpenAI",
            Self::Perspective => "Perspective",
        }
    }

    const fn default_url(self) -> &'static str {
        match self {
            Self::Openai => "https://api.openai.com/v1",
            Self::Perspective => "https://commentanalyzer.googleapis.com",
        }
    }

    /// Below the base of their service.
    const fn operation(self) -> &'static str {
        match self {
            Self::Openai => "moderations",
            Self::Perspective => "v1alpha1/comments:analyze",
        }
    }

    /// What is their base, below the address of ours.
    const fn compatible(self) -> &'static str {
        match self {
            Self::Openai => "compat/openai/v1",
            Self::Perspective => "compat/perspective",
        }
    }
}

/// `hate=0.7`.
fn threshold(text: &str) -> Result<(String, f64), String> {
    let wrong = || "must be a category and a number from 0 to 1, such as hate=0.7".to_owned();
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    let value: f64 = value.trim().parse().map_err(|_| wrong())?;
    let name = name.trim();
    if name.is_empty() || !(0.0..=1.0).contains(&value) {
        return Err(wrong());
    }
    Ok((name.to_owned(), value))
}

/// Requests per second.
fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok();
    rate.filter(|rate| (0.01..=1_000.0).contains(rate))
        .ok_or_else(|| "must be a number of requests per second from 0.01 to 1000".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_a_category_and_a_number() {
        assert_eq!(threshold("hate=0.7"), Ok(("hate".to_owned(), 0.7)));
        assert_eq!(threshold("a/b=1"), Ok(("a/b".to_owned(), 1.0)));
        for wrong in [
            "hate",
            "=0.5",
            "hate=",
            "hate=high",
            "hate=1.1",
            "hate=-1",
            "hate=nan",
        ] {
            assert!(threshold(wrong).is_err(), "{wrong}");
        }
        assert_eq!(rate("0.5"), Ok(0.5));
        for wrong in ["0", "-1", "inf", "fast"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }
}
