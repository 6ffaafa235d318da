//! Where the console is.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use clap::Args;
use url::Url;

use super::{
    sign_on::{SignOnOptions, SignOnSettings},
    value_parsers::{address, origin},
};

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
