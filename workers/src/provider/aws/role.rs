//! Credentials of the role of a machine, container or pod. They are fetched when they are first
//! needed, and renewed before they expire.
//!
//! One request at a time asks for new credentials. While the old ones are valid, nobody waits for
//! it. If it fails, the old ones are used until they expire.

mod source;
#[cfg(test)]
mod tests;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::{Duration, Instant, SystemTime},
};

use aws_credential_types::Credentials;
use reqwest::Client;
use telemetry::{RepeatedFailure, failed, over};
use tracing::info;
use url::Url;

use crate::{
    lock,
    provider::{
        ProviderError,
        error::NoCredentials,
        remote::{Proxy, client},
    },
};

/// How long before their end credentials are renewed. AWS has new ones at least five minutes
/// before.
const EARLY: Duration = Duration::from_mins(5);
/// How long to wait after an attempt to renew credentials that are still valid.
const PAUSE: Duration = Duration::from_secs(30);
/// How long a request may take. Except for the Security Token Service, the servers are near.
const DEADLINE: Duration = Duration::from_secs(5);
const CONNECTING: Duration = Duration::from_secs(2);

/// Where a role's credentials come from, as the environment says.
#[derive(Clone, Debug)]
pub enum AwsRole {
    /// From the Security Token Service, in exchange for a token of the pod's service account (IAM
    /// roles for service accounts in EKS).
    WebIdentity {
        /// The service.
        sts: Url,
        /// The role's ARN.
        role: String,
        /// The name of the session in AWS's logs.
        session: String,
        /// The file with the token. It changes, so it is read each time.
        token_file: PathBuf,
    },
    /// From the container's own endpoint: ECS, or Pod Identity in EKS.
    Container {
        /// The endpoint.
        url: Url,
        /// The token for the endpoint.
        token: Option<ContainerToken>,
    },
    /// From the metadata of an EC2 instance, version 2.
    Instance {
        /// The address of the metadata, usually `http://169.254.169.254`.
        endpoint: Url,
    },
}

/// The token that a container needs to get its role's credentials.
#[derive(Clone)]
pub enum ContainerToken {
    /// This.
    Value(String),
    /// The content of this file. It changes, so it is read each time.
    File(PathBuf),
}

impl std::fmt::Debug for ContainerToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value(_) => f.write_str("Value(..)"),
            Self::File(path) => write!(f, "File({})", path.display()),
        }
    }
}

impl AwsRole {
    /// Distinguishes this role from others, as far as it is known.
    pub(super) fn identity(&self) -> String {
        match self {
            Self::WebIdentity { role, .. } => format!("role:{role}"),
            Self::Container { url, .. } => format!("role:{url}"),
            Self::Instance { endpoint } => format!("role:{endpoint}"),
        }
    }
}

/// A role and its current credentials.
pub(super) struct Holder {
    role: AwsRole,
    http: Client,
    /// Held by the task that requests credentials.
    asking: tokio::sync::Mutex<()>,
    state: Mutex<State>,
    trouble: RepeatedFailure,
}

#[derive(Default)]
struct State {
    issued: Option<Issued>,
    /// When the last attempt ended, and why it failed if it did.
    last: Option<(Instant, Option<NoCredentials>)>,
}

/// Credentials and their end.
#[derive(Clone)]
struct Issued {
    credentials: Credentials,
    expires: SystemTime,
}

impl Holder {
    /// Requests nothing yet. Metadata is requested directly, and AWS's service through the proxy,
    /// if there is one.
    pub(super) fn new(role: AwsRole, proxy: Option<&Proxy>) -> Result<Arc<Self>, ProviderError> {
        let proxy = match role {
            AwsRole::WebIdentity { .. } => proxy,
            AwsRole::Container { .. } | AwsRole::Instance { .. } => None,
        };
        Ok(Arc::new(Self {
            http: client(CONNECTING, proxy).map_err(ProviderError::Unreachable)?,
            role,
            asking: tokio::sync::Mutex::default(),
            state: Mutex::default(),
            trouble: RepeatedFailure::in_turn(),
        }))
    }

    /// Valid credentials.
    pub(super) async fn current(self: &Arc<Self>) -> Result<Credentials, ProviderError> {
        let now = SystemTime::now();
        let Some(issued) = self.valid(now) else {
            return self.renewed().await;
        };
        if issued.expires <= now + EARLY {
            self.renew_aside();
        }
        Ok(issued.credentials)
    }

    /// New credentials instead of these, which AWS calls expired.
    pub(super) async fn instead_of(
        self: &Arc<Self>,
        expired: &Credentials,
    ) -> Result<Credentials, ProviderError> {
        self.forget(expired);
        self.current().await
    }

    fn forget(&self, expired: &Credentials) {
        let mut state = lock(&self.state);
        let held = state.issued.as_ref();
        if held.is_some_and(|held| is_same(&held.credentials, expired)) {
            state.issued = None;
        }
    }

    /// Waits for new credentials.
    async fn renewed(self: &Arc<Self>) -> Result<Credentials, ProviderError> {
        let (holder, since) = (Arc::clone(self), Instant::now());
        // A separate task, because a caller may give up while others wait for the same answer.
        let renewing = tokio::spawn(async move {
            let _turn = holder.asking.lock().await;
            let is_answered = |(ended, _): &(Instant, _)| *ended >= since;
            let is_done = lock(&holder.state).last.as_ref().is_some_and(is_answered);
            if !is_done && holder.valid(SystemTime::now()).is_none() {
                holder.ask().await;
            }
        });
        let ended = renewing.await.is_ok();
        if let Some(issued) = self.valid(SystemTime::now()) {
            return Ok(issued.credentials);
        }
        let failed = lock(&self.state)
            .last
            .clone()
            .and_then(|(_, failed)| failed);
        let failed = failed.filter(|_| ended);
        Err(ProviderError::NoCredentials(failed.unwrap_or_else(|| {
            NoCredentials(
                "the credentials that AWS issued have expired already; check this machine's clock"
                    .into(),
            )
        })))
    }

    /// Renews the credentials in the background, unless a renewal is running or ended recently.
    fn renew_aside(self: &Arc<Self>) {
        let is_recent = |(ended, _): &(Instant, _)| ended.elapsed() < PAUSE;
        if lock(&self.state).last.as_ref().is_some_and(is_recent) {
            return;
        }
        let holder = Arc::clone(self);
        tokio::spawn(async move {
            let Ok(_turn) = holder.asking.try_lock() else {
                return;
            };
            if !lock(&holder.state).last.as_ref().is_some_and(is_recent) {
                holder.ask().await;
            }
        });
    }

    /// Requests credentials once, and keeps them. If that fails, the old ones stay.
    async fn ask(&self) {
        let asked = tokio::time::timeout(DEADLINE, source::fetch(&self.http, &self.role)).await;
        let asked = asked.unwrap_or_else(|_| {
            let late = format!("no answer in {} seconds", DEADLINE.as_secs());
            Err(source::failed(&self.role, &late))
        });
        let mut state = lock(&self.state);
        match asked {
            Ok(issued) => {
                info!("got AWS credentials");
                over!(
                    self.trouble.worked(),
                    "the AWS credentials are renewed again"
                );
                state.issued = Some(issued);
                state.last = Some((Instant::now(), None));
            }
            Err(error) => {
                failed!(self.trouble.failed(), %error, "could not renew the AWS credentials; the current ones are used until they expire");
                state.last = Some((Instant::now(), Some(error)));
            }
        }
    }

    fn valid(&self, now: SystemTime) -> Option<Issued> {
        let issued = lock(&self.state).issued.clone();
        issued.filter(|issued| issued.expires > now)
    }
}

fn is_same(one: &Credentials, other: &Credentials) -> bool {
    one.access_key_id() == other.access_key_id() && one.session_token() == other.session_token()
}
