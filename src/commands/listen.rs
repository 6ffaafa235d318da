//! `gatehouse listen`: a local webhook receiver to try things out with. It verifies both
//! signatures, prints each event, forwards it to the application that you develop, and can fail on
//! purpose so that you can watch retries.

mod forward;
mod pretty_json;
mod print;
mod secret;
mod verify_signature;

use std::{convert::Infallible, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context as _;
use domain::signature::WebhookSecret;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{net::TcpListener, time};

use crate::{config::address, duration};
use forward::Target;
use secret::{GIVE_ONE, Secret};

/// Larger than any event that Gatehouse sends, in bytes.
const LONGEST_BODY: usize = 1024 * 1024;
/// The time that a sender has for a request's head, and again for its body.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// The options of `gatehouse listen`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The address to listen on
    #[arg(long, default_value = "127.0.0.1:9000", value_parser = address)]
    listen: SocketAddr,
    /// The webhook secret for verification. Other users of this machine can read it in the list of processes, so prefer
    /// `--secret-file` or the variable `GATEHOUSE_WEBHOOK_SECRET`
    #[arg(long, value_name = "whsec_...", conflicts_with_all = ["demo", "secret_file"])]
    secret: Option<WebhookSecret>,
    /// A file with the webhook secret for verification
    #[arg(long, value_name = "FILE", conflicts_with = "demo")]
    secret_file: Option<PathBuf>,
    /// A demo.json with the webhook secret [default: the one in the data directory]
    #[arg(long, value_name = "FILE")]
    demo: Option<PathBuf>,
    /// Forward verified webhooks to this URL, and answer with its answer
    #[arg(
        long,
        value_name = "http://localhost:3000/path",
        conflicts_with = "status"
    )]
    forward: Option<Target>,
    /// Answer with this status instead of 200 (or 401 if the signature is wrong)
    #[arg(long, value_parser = final_status)]
    status: Option<StatusCode>,
    /// Wait this long before answering, for example 5s or 250ms
    #[arg(long, value_parser = duration::parse, default_value = "0s")]
    delay: Duration,
}

#[derive(Debug)]
struct Receiver {
    secret: Secret,
    forward: Option<Target>,
    status: Option<StatusCode>,
    delay: Duration,
}

/// Where the secret comes from without an option.
#[derive(Debug)]
pub(crate) struct Defaults {
    /// The secret in the environment.
    pub(crate) secret: Option<WebhookSecret>,
    /// The `demo.json` in the default data directory.
    pub(crate) demo: Option<PathBuf>,
}

/// Receives and prints webhooks until Ctrl-C. The secret comes from an option, else from the environment, else from the
/// default `demo.json`.
///
/// # Errors
/// The secret's file cannot be used, or the address is not available.
pub(crate) async fn run(args: Args, defaults: Defaults) -> anyhow::Result<()> {
    let secret = Secret::chosen(args.secret, args.secret_file, args.demo, defaults)?;
    let receiver = Arc::new(Receiver {
        secret,
        forward: args.forward,
        status: args.status,
        delay: args.delay,
    });
    let listener = TcpListener::bind(args.listen).await.with_context(|| {
        format!(
            "cannot listen on {}; choose another address with --listen",
            args.listen
        )
    })?;
    print::banner(listener.local_addr()?, &receiver)?;
    tokio::select! {
        () = accept(&listener, &receiver) => Ok(()),
        stopped = tokio::signal::ctrl_c() => stopped.context("cannot wait for Ctrl-C"),
    }
}

async fn accept(listener: &TcpListener, receiver: &Arc<Receiver>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Probably no file descriptors are left: wait until other connections end.
            time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let receiver = Arc::clone(receiver);
        let service = service_fn(move |request| {
            let receiver = Arc::clone(&receiver);
            async move { Ok::<_, Infallible>(receiver.receive(request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(READ_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended badly");
            }
        });
    }
}

impl Receiver {
    /// Prints one request and chooses the answer.
    async fn receive(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let body =
            match time::timeout(READ_TIMEOUT, Limited::new(body, LONGEST_BODY).collect()).await {
                Ok(Ok(body)) => body.to_bytes(),
                Ok(Err(_)) => return nothing_but(StatusCode::PAYLOAD_TOO_LARGE),
                Err(_) => return nothing_but(StatusCode::REQUEST_TIMEOUT),
            };
        let verdict = match self.secret.load() {
            Ok(secret) => verify_signature::verify(&secret, &head.headers, &body),
            Err(reason) => verify_signature::Verdict::NoSecret(reason),
        };
        let (answer, from) = match &self.forward {
            _ if verdict.is_rejection() => (
                nothing_but(self.status.unwrap_or(StatusCode::UNAUTHORIZED)),
                String::new(),
            ),
            Some(target) => match target.forward(&head.headers, body.clone()).await {
                Ok(answer) => (answer, format!("by {target}")),
                Err(failure) => (nothing_but(failure.status()), failure.to_string()),
            },
            None => (
                nothing_but(self.status.unwrap_or(StatusCode::OK)),
                String::new(),
            ),
        };
        let shown = print::event(&head.headers, &verdict, (answer.status(), &from), &body);
        if let Err(error) = shown {
            tracing::warn!(%error, "cannot print an event");
        }
        time::sleep(self.delay).await;
        answer
    }
}

fn nothing_but(status: StatusCode) -> Response<Full<Bytes>> {
    let mut answer = Response::default();
    *answer.status_mut() = status;
    answer
}

fn final_status(text: &str) -> Result<StatusCode, String> {
    let status = text
        .parse()
        .ok()
        .filter(|status: &StatusCode| !status.is_informational());
    status.ok_or_else(|| "must be an HTTP status from 200 to 999".to_owned())
}

#[cfg(test)]
mod tests;
