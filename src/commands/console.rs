//! The listener of the console, in `up` and `api`.

use std::{
    net::{SocketAddr, TcpListener as StdListener},
    sync::Arc,
    time::Duration,
};

use console::{Console, ErrorPages, console, public_url};
use http_server::{BodySettings, serve};
use management::{Management, SignOn};
use oidc::Provider;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{ConsoleOptions, DEFAULT_CONSOLE, HttpOptions, PublicUrlOptions},
    service,
};

/// Connections of browsers. Each uses a few.
pub(super) const CONNECTIONS: usize = 256;
/// Bytes of one form.
const FORM_BYTES: usize = 1 << 20;
/// Memory for all large forms together.
const FORMS_BYTES: usize = 16 << 20;

/// Binds the console's listener, unless there is to be none.
pub(crate) fn bind(options: &ConsoleOptions) -> anyhow::Result<Option<StdListener>> {
    let address = options.address();
    address
        .map(|address| service::bind(address, "--console-listen"))
        .transpose()
}

/// Where people open the console: what the operator says, or the listener. None without a console.
pub(crate) fn where_served(
    options: &ConsoleOptions,
    listener: Option<&StdListener>,
) -> anyhow::Result<Option<String>> {
    let Some(listener) = listener else {
        return Ok(None);
    };
    Ok(Some(match &options.public.public_url {
        Some(url) => public_url::of_public(url),
        None => at(listener.local_addr()?),
    }))
}

/// Where people open the console, as far as a command knows that serves none.
pub(crate) fn elsewhere(options: &PublicUrlOptions) -> String {
    match &options.public_url {
        Some(url) => public_url::of_public(url),
        None => at(DEFAULT_CONSOLE),
    }
}

fn at(address: SocketAddr) -> String {
    format!("http://{address}")
}

/// The provider of single sign-on, if there is one. It is not asked before somebody wants to sign in.
pub(crate) fn sign_on(options: &ConsoleOptions) -> anyhow::Result<Option<SignOn>> {
    let settings = options.sign_on()?;
    let sign_on = settings.map(|settings| {
        let provider = Provider::new(settings.provider, workers::tls::client_config())?;
        let sign_on = SignOn::new(provider, settings.name, settings.prefix);
        anyhow::Ok(sign_on.owning(settings.domains))
    });
    sign_on.transpose()
}

/// Serves the console on at most this many connections until `stop`, then lets open requests end. Ends at once if there is none.
pub(crate) fn serve(
    bounds: &HttpOptions,
    drain: Duration,
    options: &ConsoleOptions,
    (listener, connections): (Option<StdListener>, usize),
    management: Arc<Management>,
    stop: CancellationToken,
) -> anyhow::Result<JoinHandle<std::io::Result<()>>> {
    let Some(listener) = listener else {
        return Ok(tokio::spawn(std::future::ready(Ok(()))));
    };
    let settings = bounds.serve(connections, drain);
    let endpoint = console(Console {
        management,
        proxies: settings.proxies.clone(),
        public_url: options.public.public_url.clone(),
        body: BodySettings {
            max_bytes: FORM_BYTES,
            budget_bytes: FORMS_BYTES,
            ..bounds.body()
        },
        refusals: bounds.refusals(),
        deadline: bounds.deadline(),
    });
    Ok(tokio::spawn(serve::serve(
        TcpListener::from_std(listener)?,
        endpoint,
        Arc::new(ErrorPages::at(options.public.public_url.as_ref())),
        settings,
        stop.cancelled_owned(),
    )))
}
