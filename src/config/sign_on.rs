//! Single sign-on to the console: the provider of `OpenID` Connect that the operator chose.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use domain::email::Domain;
use oidc::{ClientSecret, Issuer, Settings};
use url::Url;

use super::{
    invalid::invalid,
    read_value,
    value_parsers::{address, origin},
    variable,
};

/// Where the provider sends browsers back to, below the console's public URL.
const BACK: &str = "/sign-on/callback";
const SECRET: &str = "GATEHOUSE_OIDC_CLIENT_SECRET";
const SECRET_FILE: &str = "GATEHOUSE_OIDC_CLIENT_SECRET_FILE";

/// The provider of single sign-on.
#[derive(Clone, Debug, Args)]
#[expect(clippy::struct_field_names, reason = "the names of options")]
pub(crate) struct SignOnOptions {
    /// The issuer of the provider (OIDC) at which people may sign in to the console, exactly as the provider writes it.
    /// Needs --public-url, and the client's secret in `GATEHOUSE_OIDC_CLIENT_SECRET` or `GATEHOUSE_OIDC_CLIENT_SECRET_FILE`
    #[arg(long, env = "GATEHOUSE_OIDC_ISSUER", value_parser = issuer)]
    oidc_issuer: Option<Issuer>,
    /// The name under which the provider knows Gatehouse
    #[arg(long, env = "GATEHOUSE_OIDC_CLIENT_ID")]
    oidc_client_id: Option<String>,
    /// What people call the provider. The button is "Sign in with ..."
    #[arg(long, env = "GATEHOUSE_OIDC_NAME", default_value = "single sign-on", value_parser = name)]
    oidc_name: String,
    /// The scopes to ask for beside `openid`, separated by commas
    #[arg(long, env = "GATEHOUSE_OIDC_SCOPES", value_delimiter = ',', default_values = ["profile", "email"])]
    oidc_scopes: Vec<String>,
    /// The claim with the roles: a name, or a path with dots, such as `realm_access.roles`
    #[arg(long, env = "GATEHOUSE_OIDC_ROLES_CLAIM", default_value = "roles")]
    oidc_roles_claim: String,
    /// What roles of Gatehouse begin with in that claim
    #[arg(long, env = "GATEHOUSE_OIDC_ROLE_PREFIX", default_value = "gatehouse:")]
    oidc_role_prefix: String,
    /// Values of the claim `acr`, separated by commas, that mean that the provider checked several factors
    #[arg(long, env = "GATEHOUSE_OIDC_STRONG_ACRS", value_delimiter = ',')]
    oidc_strong_acrs: Vec<String>,
    /// Domains of e-mail addresses that belong to the provider, separated by commas: it says whose they are. Links of teams create
    /// no local account for them
    #[arg(long, env = "GATEHOUSE_OIDC_DOMAINS", value_delimiter = ',', value_parser = domain)]
    oidc_domains: Vec<Domain>,
}

/// The provider that the operator configured.
pub(crate) struct SignOnSettings {
    pub(crate) provider: Settings,
    pub(crate) name: String,
    pub(crate) prefix: String,
    pub(crate) domains: Vec<Domain>,
}

impl SignOnOptions {
    /// The settings, if there is a provider.
    ///
    /// # Errors
    /// Something is missing.
    pub(super) fn settings(
        &self,
        public_url: Option<&Url>,
    ) -> anyhow::Result<Option<SignOnSettings>> {
        self.settings_with(public_url, secret()?)
    }

    fn settings_with(
        &self,
        public_url: Option<&Url>,
        secret: Option<ClientSecret>,
    ) -> anyhow::Result<Option<SignOnSettings>> {
        let Some(issuer) = self.oidc_issuer.clone() else {
            ensure!(
                self.oidc_client_id.is_none() && secret.is_none(),
                invalid!(
                    "a client of single sign-on is set, but not its provider: set GATEHOUSE_OIDC_ISSUER, too"
                )
            );
            ensure!(
                self.oidc_domains.is_empty(),
                invalid!(
                    "GATEHOUSE_OIDC_DOMAINS says which addresses belong to the provider, but there is no provider: set \
                     GATEHOUSE_OIDC_ISSUER, too"
                )
            );
            return Ok(None);
        };
        let redirect = public_url.context(invalid!(
            "single sign-on needs GATEHOUSE_PUBLIC_URL, the address at which people open the console: the provider sends \
             browsers back there"
        ))?;
        let redirect = redirect
            .join(BACK)
            .context("GATEHOUSE_PUBLIC_URL is unusable")?;
        let client_id = self.oidc_client_id.clone();
        Ok(Some(SignOnSettings {
            provider: Settings {
                issuer,
                client_id: client_id
                    .context(invalid!("single sign-on needs GATEHOUSE_OIDC_CLIENT_ID"))?,
                client_secret: secret.with_context(|| {
                    invalid!(
                        "single sign-on needs the client's secret in {SECRET} or {SECRET_FILE}"
                    )
                })?,
                redirect,
                scopes: self.oidc_scopes.clone(),
                roles_claim: self.oidc_roles_claim.clone(),
                strong_acrs: self.oidc_strong_acrs.clone(),
            },
            name: self.oidc_name.clone(),
            prefix: self.oidc_role_prefix.clone(),
            domains: self.oidc_domains.clone(),
        }))
    }
}

fn secret() -> anyhow::Result<Option<ClientSecret>> {
    let text = match (variable(SECRET)?, variable(SECRET_FILE)?) {
        (Some(_), Some(_)) => bail!(invalid!(
            "{SECRET} and {SECRET_FILE} are both set; unset one"
        )),
        (Some(secret), None) => secret,
        (None, Some(path)) => {
            let text = read_value(path.as_ref());
            let text =
                text.with_context(|| format!("cannot read the client's secret in {path}"))?;
            let secret = text.trim().to_owned();
            ensure!(
                !secret.is_empty(),
                "the file {path} with the client's secret is empty"
            );
            secret
        }
        (None, None) => return Ok(None),
    };
    Ok(Some(ClientSecret::new(text)))
}

fn issuer(text: &str) -> Result<Issuer, String> {
    text.parse()
        .map_err(|wrong: oidc::WrongIssuer| wrong.to_string())
}

fn domain(text: &str) -> Result<Domain, String> {
    text.trim()
        .parse()
        .map_err(|wrong: domain::email::InvalidDomain| wrong.to_string())
}

fn name(text: &str) -> Result<String, String> {
    let name: Result<domain::name::Name, _> = text.parse();
    name.map(|name| name.as_str().to_owned())
        .map_err(|wrong| wrong.to_string())
}

/// Where the console listens by default.
pub(crate) const DEFAULT_CONSOLE: SocketAddr =
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 8081));

/// Where the console listens, and how people reach it.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConsoleOptions {
    /// Address of the console. Keep it private, or put it behind a proxy that speaks HTTPS
    #[arg(long, env = "GATEHOUSE_CONSOLE_LISTEN", default_value_t = DEFAULT_CONSOLE, value_parser = address)]
    pub(crate) console_listen: SocketAddr,
    /// Do not serve the console
    #[arg(long, env = "GATEHOUSE_NO_CONSOLE")]
    pub(crate) no_console: bool,
    #[command(flatten)]
    pub(crate) public: PublicUrlOptions,
    #[command(flatten)]
    sign_on: SignOnOptions,
}

/// How people reach the console.
#[derive(Clone, Debug, Args)]
pub(crate) struct PublicUrlOptions {
    /// The address at which people open the console, such as <https://console.example.com>. Links begin with it [default: the
    /// address of the console's listener]
    #[arg(long, env = "GATEHOUSE_PUBLIC_URL", value_parser = origin)]
    pub(crate) public_url: Option<Url>,
}

impl ConsoleOptions {
    /// The address to listen on, unless there is to be no console.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        (!self.no_console).then_some(self.console_listen)
    }

    /// The provider of single sign-on, if there is one.
    ///
    /// # Errors
    /// One of its settings is missing.
    pub(crate) fn sign_on(&self) -> anyhow::Result<Option<SignOnSettings>> {
        if self.no_console {
            return Ok(None);
        }
        self.sign_on.settings(self.public.public_url.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: SignOnOptions,
    }

    fn settings(
        options: &[&str],
        public_url: Option<&str>,
        secret: Option<&str>,
    ) -> Result<Option<SignOnSettings>, String> {
        let line = ["gatehouse"].iter().chain(options);
        let line = Line::try_parse_from(line).map_err(|error| error.to_string())?;
        let url: Option<Url> = public_url.map(|url| url.parse().unwrap());
        let secret = secret.map(|secret| ClientSecret::new(secret.to_owned()));
        let settings = line.options.settings_with(url.as_ref(), secret);
        settings.map_err(|error| format!("{error:#}"))
    }

    const ISSUER: [&str; 2] = ["--oidc-issuer", "https://login.example.com"];
    const BOTH: [&str; 4] = [
        "--oidc-issuer",
        "https://login.example.com",
        "--oidc-client-id",
        "x",
    ];
    const URL: Option<&str> = Some("https://console.example.com/");

    #[test]
    fn browsers_come_back_below_the_public_url() {
        let settings = settings(&BOTH, URL, Some("s")).unwrap().unwrap();
        let back = "https://console.example.com/sign-on/callback";
        assert_eq!(settings.provider.redirect.as_str(), back);
        assert_eq!(settings.provider.scopes, ["profile", "email"]);
        assert_eq!(
            (settings.name.as_str(), settings.prefix.as_str()),
            ("single sign-on", "gatehouse:")
        );
    }

    #[test]
    fn domains_are_a_list_that_needs_a_provider() {
        let domains = ["--oidc-domains", "BigCorp.example, b.example"];
        let told = settings(&domains, URL, None).err().unwrap();
        assert!(told.contains("GATEHOUSE_OIDC_ISSUER"), "{told}");
        let both = [&BOTH[..], &domains[..]].concat();
        let set = settings(&both, URL, Some("s")).unwrap().unwrap();
        let set: Vec<&str> = set.domains.iter().map(Domain::as_str).collect();
        assert_eq!(set, ["bigcorp.example", "b.example"]);
        for wrong in ["*.example.com", "@example.com", "a b"] {
            let told = settings(&[&BOTH[..], &["--oidc-domains", wrong]].concat(), URL, None);
            assert!(told.err().unwrap().contains("must be a domain"), "{wrong}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let missing = |options: &[&str], url, secret| settings(options, url, secret).err().unwrap();
        assert!(settings(&[], None, None).unwrap().is_none());
        for (told, name) in [
            (missing(&BOTH, None, Some("s")), "GATEHOUSE_PUBLIC_URL"),
            (missing(&ISSUER, URL, Some("s")), "GATEHOUSE_OIDC_CLIENT_ID"),
            (missing(&BOTH, URL, None), "GATEHOUSE_OIDC_CLIENT_SECRET"),
            (missing(&BOTH[2..], URL, None), "GATEHOUSE_OIDC_ISSUER"),
            (missing(&[], URL, Some("s")), "GATEHOUSE_OIDC_ISSUER"),
            (
                missing(&["--oidc-issuer", "http://login.example.com"], URL, None),
                "must be an https address",
            ),
        ] {
            assert!(told.contains(name), "{told}");
        }
    }
}
