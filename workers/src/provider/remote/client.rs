//! The HTTP client for requests to providers.

use std::time::Duration;

use reqwest::{Client, redirect};

use super::Proxy;
use crate::tls;

/// The client for providers and for services that issue their credentials. The operator chose all
/// of their addresses.
pub(crate) type Http = Client;

/// A client. It uses only the configured proxy, never the proxies in the environment.
pub(crate) fn client(
    connecting: Duration,
    proxy: Option<&Proxy>,
) -> Result<Client, reqwest::Error> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls::client_config())
        .user_agent(concat!("Gatehouse/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connecting)
        .redirect(redirect::Policy::none())
        .no_proxy();
    match proxy {
        None => builder.build(),
        Some(proxy) => builder.proxy(proxy.all()?).build(),
    }
}
