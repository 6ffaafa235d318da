//! How a provider is reached and accessed: its address, deadline, concurrency and circuit breaker; keys, credentials, headers, the proxy.

use std::{
    ops::RangeInclusive,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, anyhow, bail, ensure};
use domain::breaker::BreakerSettings;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use url::{Host, Url};
use workers::provider::{
    Auth, AwsAccess, AwsKey, AwsRole, ContainerToken, NoProxy, Proxy, Remote, Style,
};

use super::Entry;
use crate::config::{
    providers::{
        CONCURRENCY, DEADLINE, LONGEST_DEADLINE_SECONDS, base_address,
        file::{Surroundings, provider_kinds::Kind},
        plain_address,
    },
    read_value, variable,
};

/// The value of `proxy` that means none.
const DIRECT: &str = "none";

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AuthName {
    Bearer,
    Hmac,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CredentialsName {
    /// The credentials of the role of this process.
    Role,
}

impl Entry {
    /// Its AWS credentials in this region.
    pub(super) fn aws_access(&self, region: &str, directory: &Path) -> anyhow::Result<AwsAccess> {
        let (token_env, token_file) = (&self.session_token_env, &self.session_token_file);
        let has_key = self.key_id.is_some() || self.key_env.is_some() || self.key_file.is_some();
        match self.credentials {
            Some(CredentialsName::Role) => {
                ensure!(
                    !has_key && token_env.is_none() && token_file.is_none(),
                    "it has credentials = \"role\" and a key; give only one"
                );
                Ok(AwsAccess::Role(aws_role(region)?))
            }
            None if !has_key => {
                bail!("it needs its key_id with key_env or key_file, or credentials = \"role\"")
            }
            None => Ok(AwsAccess::Key(AwsKey {
                id: self.needed_key_id()?,
                secret: self.needed_key(directory)?,
                session_token: secret(
                    "session_token",
                    token_env.as_ref(),
                    token_file.as_ref(),
                    directory,
                )?,
            })),
        }
    }

    /// Its proxy: its own, or the one for all providers.
    pub(super) fn way(&self, surroundings: &Surroundings) -> anyhow::Result<Option<Proxy>> {
        let password = secret(
            "proxy_password",
            self.proxy_password_env.as_ref(),
            self.proxy_password_file.as_ref(),
            surroundings.directory,
        )?;
        match self.proxy.as_deref() {
            None | Some(DIRECT) if password.is_some() => {
                bail!("it has a proxy_password but no proxy")
            }
            None => Ok(surroundings.proxy.cloned()),
            Some(DIRECT) => Ok(None),
            Some(url) => match Proxy::new(url, password) {
                Ok(proxy) => Ok(Some(proxy)),
                Err(wrong @ NoProxy::PasswordInUrl) => {
                    bail!(
                        "its proxy {wrong}; put it into proxy_password_env or proxy_password_file"
                    )
                }
                Err(wrong @ (NoProxy::Url | NoProxy::NoUser)) => bail!("its proxy {wrong}"),
            },
        }
    }

    /// How requests to it are authenticated.
    pub(super) fn auth(&self, directory: &Path) -> anyhow::Result<Auth> {
        match (self.key(directory)?, self.auth, &self.key_header) {
            (None, None, None) => Ok(Auth::Nothing),
            (None, Some(_), _) => bail!("it has auth but no key"),
            (None, None, Some(_)) => bail!("it has a key_header but no key"),
            (Some(_), Some(_), Some(_)) => bail!("it has auth and key_header; give only one"),
            (Some(key), None, Some(name)) => header(name, key),
            (Some(key), None | Some(AuthName::Bearer), None) => Ok(Auth::Bearer(key)),
            (Some(key), Some(AuthName::Hmac), None) => Ok(Auth::Hmac(key)),
        }
    }

    /// Further headers of each request.
    pub(super) fn headers(&self) -> anyhow::Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        for (name, value) in self.headers.iter().flatten() {
            let known: HeaderName = name
                .parse()
                .map_err(|_| anyhow!("its headers have an invalid name: {name:?}"))?;
            ensure!(
                !matches!(
                    known.as_str(),
                    "authorization"
                        | "content-length"
                        | "content-type"
                        | "host"
                        | "transfer-encoding"
                ),
                "its headers have {known}, which is set otherwise"
            );
            let value = HeaderValue::try_from(value)
                .map_err(|_| anyhow!("its header {known} has invalid characters"))?;
            headers.insert(known, value);
        }
        Ok(headers)
    }

    pub(super) fn needed_key(&self, directory: &Path) -> anyhow::Result<String> {
        let key = self.key(directory)?;
        key.context("it needs its key, in key_env or key_file")
    }

    pub(super) fn needed_key_id(&self) -> anyhow::Result<String> {
        let id = self.key_id.clone().context("it needs its key_id")?;
        ensure!(
            is_printable(&id),
            "its key_id is empty or has characters other than printable ASCII"
        );
        Ok(id)
    }

    fn key(&self, directory: &Path) -> anyhow::Result<Option<String>> {
        secret(
            "key",
            self.key_env.as_ref(),
            self.key_file.as_ref(),
            directory,
        )
    }

    /// How it is reached, at the given URL or the usual one.
    pub(super) fn remote(
        &self,
        usual_url: Option<&str>,
        auth: Auth,
        style: Option<&Style>,
    ) -> anyhow::Result<Remote> {
        let url = match (&self.url, usual_url) {
            (Some(url), _) => url.clone(),
            (None, Some(usual)) => usual.parse()?,
            (None, None) => bail!("it needs its url"),
        };
        let url = match self.kind {
            Kind::Http => plain_address(url),
            _ if self.path.is_some() => plain_address(url),
            _ => base_address(url),
        };
        let url = url.map_err(|wrong| anyhow!("its url {wrong}"))?;
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
        let (usual_piece, largest_piece) = self.kind.piece_bytes();
        let pieces = within(
            "piece_bytes",
            self.piece_bytes,
            usual_piece,
            1_000..=largest_piece,
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
            headers: self.headers()?,
            scope: self.scope(style)?,
            deadline: Duration::from_secs(deadline),
            concurrency: usize::try_from(concurrency)?,
            breaker: BreakerSettings {
                failures: u32::try_from(failures)?,
                first: Duration::from_secs(wait),
                ..usual
            },
            piece_bytes: usize::try_from(pieces)?,
            proxy: self.way.clone(),
        })
    }
}

/// A key in the header with this name.
pub(super) fn header(name: &str, key: String) -> anyhow::Result<Auth> {
    let name = name
        .parse()
        .map_err(|_| anyhow!("its key_header is not a valid header name"))?;
    Ok(Auth::Header(name, key))
}

/// A secret in the variable or in the file that two members name.
fn secret(
    what: &str,
    env: Option<&String>,
    file: Option<&PathBuf>,
    directory: &Path,
) -> anyhow::Result<Option<String>> {
    let secret = match (env, file) {
        (Some(_), Some(_)) => bail!("it has {what}_env and {what}_file; give only one"),
        (Some(name), None) => {
            let secret = variable(name)?;
            Some(
                secret
                    .with_context(|| format!("the variable {name} with its {what} is not set"))?,
            )
        }
        (None, Some(path)) => Some(read(&format!("{what}_file"), &directory.join(path))?),
        (None, None) => None,
    };
    ensure!(
        secret.as_deref().is_none_or(is_printable),
        "its {what} is empty or has characters other than printable ASCII"
    );
    Ok(secret)
}

/// The text of the file that a member names.
pub(super) fn read(member: &str, path: &Path) -> anyhow::Result<String> {
    let text =
        read_value(path).with_context(|| format!("cannot read its {member} {}", path.display()))?;
    Ok(text.trim().to_owned())
}

/// A key that cannot be a header value would fail with every request.
fn is_printable(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_graphic())
}

/// The value of a member, or the usual one if it is absent.
pub(super) fn within(
    member: &str,
    given: Option<u64>,
    usual: u64,
    range: RangeInclusive<u64>,
) -> anyhow::Result<u64> {
    let value = given.unwrap_or(usual);
    let (least, most) = (range.start(), range.end());
    ensure!(
        range.contains(&value),
        "its {member} must be from {least} to {most}"
    );
    Ok(value)
}

/// The address where ECS issues credentials.
const CONTAINER: &str = "http://169.254.170.2";
/// Other addresses that are allowed without TLS: Pod Identity of EKS.
const CONTAINERS: [&str; 3] = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"];
const INSTANCE: &str = "http://169.254.169.254";
const INSTANCE_IPV6: &str = "http://[fd00:ec2::254]";

/// The source of the role's credentials.
///
/// # Errors
/// One line that says what is wrong with the variables.
pub(super) fn aws_role(region: &str) -> anyhow::Result<AwsRole> {
    if let Some(file) = variable("AWS_WEB_IDENTITY_TOKEN_FILE")? {
        let role = variable("AWS_ROLE_ARN")?;
        let role = role.context("AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not")?;
        let session = variable("AWS_ROLE_SESSION_NAME")?;
        let sts = variable("AWS_ENDPOINT_URL_STS")?
            .unwrap_or_else(|| format!("https://sts.{region}.amazonaws.com"));
        return Ok(AwsRole::WebIdentity {
            sts: address("AWS_ENDPOINT_URL_STS", &sts)?,
            role,
            session: session.unwrap_or_else(|| "gatehouse".to_owned()),
            token_file: file.into(),
        });
    }
    let relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")?;
    if let Some(relative) = relative {
        let name = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
        ensure!(relative.starts_with('/'), "{name} must begin with /");
        let url = address(name, &format!("{CONTAINER}{relative}"))?;
        return container(url);
    }
    if let Some(full) = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI")? {
        let name = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
        let url = address(name, &full)?;
        // The same rule as in the AWS SDKs: the token must not cross a network unencrypted.
        ensure!(
            url.scheme() == "https" || is_near(&url),
            "{name} must be an https URL or an address on this machine"
        );
        return container(url);
    }
    let is_off = variable("AWS_EC2_METADATA_DISABLED")?;
    if is_off.is_some_and(|off| off.eq_ignore_ascii_case("true")) {
        bail!(
            "there is no role: AWS_EC2_METADATA_DISABLED is true, and neither AWS_WEB_IDENTITY_TOKEN_FILE nor \
             AWS_CONTAINER_CREDENTIALS_RELATIVE_URI nor AWS_CONTAINER_CREDENTIALS_FULL_URI is set"
        );
    }
    let mode = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE")?;
    let usual = match mode {
        Some(mode) if mode.eq_ignore_ascii_case("ipv6") => INSTANCE_IPV6,
        _ => INSTANCE,
    };
    let name = "AWS_EC2_METADATA_SERVICE_ENDPOINT";
    let endpoint = variable(name)?.unwrap_or_else(|| usual.to_owned());
    Ok(AwsRole::Instance {
        endpoint: address(name, &endpoint)?,
    })
}

fn container(url: Url) -> anyhow::Result<AwsRole> {
    let file = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")?;
    let token = match file {
        Some(file) => Some(ContainerToken::File(file.into())),
        None => variable("AWS_CONTAINER_AUTHORIZATION_TOKEN")?.map(ContainerToken::Value),
    };
    Ok(AwsRole::Container { url, token })
}

fn address(name: &str, text: &str) -> anyhow::Result<Url> {
    let url: Option<Url> = text.parse().ok();
    url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .with_context(|| format!("{name} is not an http or https URL"))
}

fn is_near(url: &Url) -> bool {
    let is_loopback = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    is_loopback
        || url
            .host_str()
            .is_some_and(|host| CONTAINERS.contains(&host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_cross_no_network_in_the_clear() {
        let near = |url: &str| is_near(&url.parse().unwrap());
        for url in [
            "http://127.0.0.1:51679/v1",
            "http://[::1]/",
            "http://169.254.170.23/v1/credentials",
            "http://[fd00:ec2::23]/v1/credentials",
        ] {
            assert!(near(url), "{url}");
        }
        assert!(!near("http://169.254.169.254/"));
        assert!(!near("http://credentials.example.com/"));
    }
}
