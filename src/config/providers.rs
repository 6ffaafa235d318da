//! The providers that analyse texts and images: named in an option, or described in a file.

mod file;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, bail, ensure};
use builtin::text::Encoder;
use clap::{Args, ValueEnum};
use domain::breaker::BreakerSettings;
use url::Url;
use workers::provider::{
    Auth, Builtin, NoProxy, OpenAi, Provider, Providers, Proxy, Remote, Scope,
};

use super::{invalid::invalid, value_parsers::http_url, variable};

pub(super) use file::variables;

/// The longest deadline of a provider for a text or an image. One run of a job has a minute for
/// everything.
const LONGEST_DEADLINE_SECONDS: u64 = 45;
const DEADLINE: Duration = Duration::from_secs(20);
const CONCURRENCY: usize = 32;
/// The most bytes of an encoder's file. Ours has 23 million.
const LARGEST_ENCODER: u64 = 256 << 20;

/// The providers of a process.
#[derive(Debug, Args)]
pub(crate) struct ProviderOptions {
    /// Providers that analyse texts and images, in order of preference, if there is no file [default: builtin]
    #[arg(long, env = "GATEHOUSE_PROVIDERS", value_delimiter = ',')]
    providers: Vec<ProviderName>,
    /// Base URL of OpenAI's interface or a compatible one. Its key is in `GATEHOUSE_OPENAI_API_KEY`
    #[arg(long, env = "GATEHOUSE_OPENAI_URL", default_value = OpenAi::URL, value_parser = openai_base)]
    openai_url: Url,
    /// A model that makes the provider `builtin` better and much slower: docs/providers.md#the-encoder
    #[arg(long, env = "GATEHOUSE_ENCODER_FILE")]
    encoder_file: Option<PathBuf>,
    /// A TOML file that describes the providers, in order of preference
    #[arg(long, env = "GATEHOUSE_PROVIDERS_FILE")]
    providers_file: Option<PathBuf>,
    /// A proxy for requests to providers: http://host:port or http://user@host:port. Its password is in
    /// `GATEHOUSE_PROVIDER_PROXY_PASSWORD`. Webhooks and images by URL do not use it
    #[arg(long, env = "GATEHOUSE_PROVIDER_PROXY", hide_env_values = true)]
    provider_proxy: Option<String>,
}

/// The providers that need no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ProviderName {
    /// The local analyser.
    Builtin,
    /// OpenAI's moderation endpoint.
    Openai,
}

impl ProviderOptions {
    /// The file that describes the providers, if there is one. An empty path is none, as for all options.
    pub(crate) fn file(&self) -> Option<&Path> {
        let file = self.providers_file.as_deref();
        file.filter(|path| !path.as_os_str().is_empty())
    }

    /// The providers that the operator configured.
    ///
    /// # Errors
    /// One line that says what is wrong with the configuration.
    pub(crate) fn load(&self) -> anyhow::Result<Providers> {
        let proxy = self.proxy()?;
        match (self.file(), self.providers.as_slice()) {
            (Some(_), []) if self.encoder_file().is_some() => {
                bail!(invalid!(
                    "GATEHOUSE_ENCODER_FILE and GATEHOUSE_PROVIDERS_FILE are both set; write `encoder_file` into the file instead"
                ))
            }
            (Some(path), []) => file::load(path, proxy.as_ref()),
            (Some(_), _) => {
                bail!(invalid!(
                    "GATEHOUSE_PROVIDERS and GATEHOUSE_PROVIDERS_FILE are both set; unset one"
                ))
            }
            (None, []) => self.named(&[ProviderName::Builtin], proxy.as_ref()),
            (None, names) => self.named(names, proxy.as_ref()),
        }
    }

    /// The proxy for all providers without their own.
    fn proxy(&self) -> anyhow::Result<Option<Proxy>> {
        let password = variable("GATEHOUSE_PROVIDER_PROXY_PASSWORD")?;
        let Some(url) = self.provider_proxy.as_deref().filter(|url| !url.is_empty()) else {
            ensure!(
                password.is_none(),
                invalid!(
                    "GATEHOUSE_PROVIDER_PROXY_PASSWORD is set, but GATEHOUSE_PROVIDER_PROXY is not"
                )
            );
            return Ok(None);
        };
        match Proxy::new(url, password) {
            Ok(proxy) => Ok(Some(proxy)),
            Err(wrong @ NoProxy::PasswordInUrl) => bail!(invalid!(
                "GATEHOUSE_PROVIDER_PROXY {wrong}; put it into GATEHOUSE_PROVIDER_PROXY_PASSWORD"
            )),
            Err(wrong @ (NoProxy::Url | NoProxy::NoUser)) => {
                bail!(invalid!("GATEHOUSE_PROVIDER_PROXY {wrong}"))
            }
        }
    }

    fn named(&self, names: &[ProviderName], proxy: Option<&Proxy>) -> anyhow::Result<Providers> {
        let mut providers: Vec<Arc<dyn Provider>> = Vec::new();
        for name in names {
            let provider = match name {
                ProviderName::Builtin => self.builtin()?,
                ProviderName::Openai => self.openai(proxy.cloned())?,
            };
            if providers
                .iter()
                .any(|known| known.profile().name == provider.profile().name)
            {
                bail!(invalid!(
                    "GATEHOUSE_PROVIDERS names {} twice",
                    provider.profile().name
                ));
            }
            providers.push(provider);
        }
        Ok(providers.into())
    }

    /// The encoder's file. An empty path is none, as for all options.
    fn encoder_file(&self) -> Option<&Path> {
        self.encoder_file
            .as_deref()
            .filter(|path| !path.as_os_str().is_empty())
    }

    fn builtin(&self) -> anyhow::Result<Arc<dyn Provider>> {
        let scope = Scope {
            text: Builtin::TEXT.to_vec(),
            image: Builtin::IMAGE.to_vec(),
        };
        let encoder = self.encoder_file().map(|path| {
            read_encoder(path).with_context(|| format!("GATEHOUSE_ENCODER_FILE {}", path.display()))
        });
        let encoder = encoder.transpose()?;
        Ok(Arc::new(Builtin::new("builtin".into(), scope, encoder)))
    }

    fn openai(&self, proxy: Option<Proxy>) -> anyhow::Result<Arc<dyn Provider>> {
        let key = variable("GATEHOUSE_OPENAI_API_KEY")?.context(invalid!(
            "the provider openai needs GATEHOUSE_OPENAI_API_KEY"
        ))?;
        let remote = Remote {
            headers: hyper::header::HeaderMap::new(),
            name: "openai".into(),
            url: self.openai_url.clone(),
            auth: Auth::Bearer(key),
            scope: Scope {
                text: OpenAi::TEXT.to_vec(),
                image: OpenAi::IMAGE.to_vec(),
            },
            deadline: DEADLINE,
            concurrency: CONCURRENCY,
            breaker: BreakerSettings::default(),
            piece_bytes: OpenAi::PIECE_BYTES,
            proxy,
        };
        Ok(Arc::new(OpenAi::new(
            remote,
            OpenAi::MODEL.into(),
            OpenAi::FLAGGED_AT_LEAST,
        )?))
    }
}

/// The URL of OpenAI's interface, or of a compatible one.
fn openai_base(text: &str) -> Result<Url, String> {
    let url = http_url(text)?;
    base_address(url).map_err(|wrong| format!("its address {wrong}"))
}

fn read_encoder(path: &Path) -> anyhow::Result<Encoder> {
    // A larger file is not one, and should not fill the memory.
    let length = fs::metadata(path)?.len();
    ensure!(length <= LARGEST_ENCODER, "the file is too large");
    Ok(Encoder::read(&fs::read(path)?)?)
}

/// Endings of URLs that are not a base. Descriptions of providers often show these URLs.
const ENDPOINTS: [&str; 7] = [
    "/moderations",
    "/chat/completions",
    "/images:annotate",
    "/documents:moderateText",
    "/contentsafety/text:analyze",
    "/contentsafety/image:analyze",
    "/check.json",
];

/// The URL of a server, without a user, a password and a fragment.
///
/// # Errors
/// What is wrong with it, after "its url".
fn plain_address(url: Url) -> Result<Url, String> {
    let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    if matches!(url.scheme(), "http" | "https") && url.has_host() && plain {
        Ok(url)
    } else {
        Err("is not http or https, or has a user or a fragment".to_owned())
    }
}

/// The base of an interface, without the `/v1` at its end: most descriptions have it, and Gatehouse
/// adds it itself.
///
/// # Errors
/// What is wrong with it and what to write instead, after "its url".
fn base_address(url: Url) -> Result<Url, String> {
    let mut url = plain_address(url)?;
    let path = url.path().trim_end_matches('/').to_owned();
    if let Some(endpoint) = ENDPOINTS.iter().find(|end| path.ends_with(**end)) {
        let start = path.strip_suffix(endpoint).unwrap_or_default();
        let start = start.strip_suffix("/v1").unwrap_or(start).to_owned();
        url.set_path(&start);
        url.set_query(None);
        let right = url.as_str().trim_end_matches('/');
        return Err(format!(
            "is the base, to which {endpoint} is added; write {right}"
        ));
    }
    if let Some(base) = path.strip_suffix("/v1") {
        url.set_path(base);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_is_taken_with_and_without_its_version_and_an_endpoint_is_refused() {
        let base = |url: &str| base_address(url.parse().unwrap()).map(String::from);
        for (url, expected) in [
            ("https://api.openai.com", "https://api.openai.com/"),
            ("https://api.openai.com/v1", "https://api.openai.com/"),
            ("https://api.openai.com/v1/", "https://api.openai.com/"),
            ("http://h:8000/openai/v1", "http://h:8000/openai"),
            ("http://h:8000/v1beta", "http://h:8000/v1beta"),
        ] {
            assert_eq!(base(url).as_deref(), Ok(expected), "{url}");
        }
        for (url, right) in [
            (
                "https://api.openai.com/v1/moderations",
                "write https://api.openai.com",
            ),
            (
                "http://h:8000/openai/v1/chat/completions/?x=1",
                "write http://h:8000/openai",
            ),
        ] {
            let told = base(url).unwrap_err();
            assert!(told.ends_with(right), "{told}");
        }
        assert!(base("http://u:p@h/").is_err());
        assert!(base("http://h/#x").is_err());
    }
}
