//! `gatehouse listen`: a local webhook receiver to try things out with. It verifies both
//! signatures, prints each event, forwards it to the application that you develop, and can fail on
//! purpose so that you can watch retries.

mod forward;
mod print;

use std::{
    convert::Infallible,
    fmt,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::Context as _;
use domain::signature::{
    SERVICE_SIGNATURE, SERVICE_SIGNATURE_PREVIOUS, STANDARD_ID, STANDARD_SIGNATURE,
    STANDARD_TIMESTAMP, Unverified, WebhookSecret, verify_service, verify_standard,
};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    HeaderMap, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Deserialize;
use tokio::{net::TcpListener, time};

use crate::{
    config::{self, address},
    demo_file, duration, terminal,
};
use forward::Target;

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
struct Defaults {
    /// The secret in the environment.
    secret: Option<WebhookSecret>,
    /// The `demo.json` in the default data directory.
    demo: Option<PathBuf>,
}

/// Receives and prints webhooks until Ctrl-C. The secret comes from an option, else from the environment, else from the
/// default `demo.json`.
///
/// # Errors
/// The secret's file cannot be used, or the address is not available.
pub(crate) async fn run(args: Args) -> anyhow::Result<()> {
    let defaults = Defaults {
        secret: config::webhook_secret()?,
        demo: config::data_dir()?.map(|directory| directory.join(demo_file::FILE)),
    };
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
    terminal::print(&print::introduction(listener.local_addr()?, &receiver))?;
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
            Ok(secret) => verify(&secret, &head.headers, &body),
            Err(reason) => Verdict::NoSecret(reason),
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
        if let Err(error) = terminal::print(&shown) {
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

/// What to do when there is no secret.
const GIVE_ONE: &str = "Give the site's webhook secret with --secret-file, GATEHOUSE_WEBHOOK_SECRET, --secret or --demo";

/// Where the secret comes from.
#[derive(Debug)]
enum Secret {
    Given(WebhookSecret),
    /// It is read again for every event, because `gatehouse up` may write it after this command
    /// started.
    InFile(PathBuf),
    Unknown,
}

impl Secret {
    fn chosen(
        given: Option<WebhookSecret>,
        file: Option<PathBuf>,
        demo: Option<PathBuf>,
        defaults: Defaults,
    ) -> anyhow::Result<Self> {
        Ok(match (given, file, demo) {
            (Some(secret), _, _) => Self::Given(secret),
            (None, Some(file), _) => Self::Given(read_secret(&file)?),
            (None, None, Some(demo)) => Self::InFile(demo),
            (None, None, None) => match (defaults.secret, defaults.demo) {
                (Some(secret), _) => Self::Given(secret),
                (None, Some(demo)) => Self::InFile(demo),
                (None, None) => Self::Unknown,
            },
        })
    }

    fn load(&self) -> Result<WebhookSecret, String> {
        match self {
            Self::Given(secret) => Ok(secret.clone()),
            Self::InFile(path) => {
                read_demo(path).map_err(|error| format!("{}: {error:#}", path.display()))
            }
            Self::Unknown => Err(GIVE_ONE.to_owned()),
        }
    }
}

fn read_secret(path: &Path) -> anyhow::Result<WebhookSecret> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the webhook secret in {}", path.display()))?;
    let secret = text.trim().parse();
    secret.with_context(|| format!("the webhook secret in {} is unusable", path.display()))
}

fn read_demo(path: &Path) -> anyhow::Result<WebhookSecret> {
    #[derive(Deserialize)]
    struct Demo {
        webhook_secret: String,
    }
    let demo: Demo = serde_json::from_slice(&std::fs::read(path)?)?;
    Ok(demo.webhook_secret.parse()?)
}

/// The conclusion; it displays as one line.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// One result for each scheme.
    Checked {
        service: Result<(), Flaw>,
        standard: Result<(), Flaw>,
    },
    /// Nothing to verify with, and why.
    NoSecret(String),
}

/// Why one scheme's signature is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Flaw {
    #[error("missing")]
    Missing,
    #[error("{0}")]
    Unverified(#[from] Unverified),
}

impl Verdict {
    /// Whether a real receiver would refuse this request.
    fn is_rejection(&self) -> bool {
        match self {
            Self::Checked { service, standard } => service.is_err() || standard.is_err(),
            Self::NoSecret(_) => false,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checked {
                service: Ok(()),
                standard: Ok(()),
            } => f.write_str("signatures verified"),
            Self::Checked { service, standard } => {
                f.write_str("NOT VERIFIED")?;
                if let Err(flaw) = service {
                    write!(f, "; {SERVICE_SIGNATURE}: {flaw}")?;
                }
                if let Err(flaw) = standard {
                    write!(f, "; {STANDARD_SIGNATURE}: {flaw}")?;
                }
                Ok(())
            }
            Self::NoSecret(reason) => write!(f, "not verified, no secret ({reason})"),
        }
    }
}

/// Checks both schemes. During a rotation the previous secret's signature counts as well.
fn verify(secret: &WebhookSecret, headers: &HeaderMap, body: &[u8]) -> Verdict {
    let text = |name| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .ok_or(Flaw::Missing)
    };
    let service = |name| Ok::<_, Flaw>(verify_service(secret, text(name)?, body)?);
    let standard = || {
        let (id, at, signatures) = (
            text(STANDARD_ID)?,
            text(STANDARD_TIMESTAMP)?,
            text(STANDARD_SIGNATURE)?,
        );
        Ok(verify_standard(
            secret,
            id,
            at,
            signatures,
            body,
            unix_now(),
        )?)
    };
    Verdict::Checked {
        service: service(SERVICE_SIGNATURE)
            .or_else(|flaw| service(SERVICE_SIGNATURE_PREVIOUS).map_err(|_| flaw)),
        standard: standard(),
    }
}

fn unix_now() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
