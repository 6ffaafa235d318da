//! Who calls: somebody with a credential, or somebody who signs in and is not known yet.

use std::{
    fmt,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use domain::{id::TeamId, key::SecretHash};

use super::Snapshot;
use crate::{FieldProblem, Management};

/// How much of a browser's name is kept.
const LONGEST_USER_AGENT: usize = 200;

/// How a caller proves who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// A management token. It is well-formed, but may not exist.
    Token(SecretHash),
    /// The session of a person who has signed in, in one team.
    Session {
        /// The hash of the secret that the browser has.
        hash: SecretHash,
        /// The team. `None`: an operator, in all teams.
        team: Option<TeamId>,
    },
    /// Somebody at a command line with access to the database. This caller can do everything.
    CommandLine,
}

/// Finds mistakes in the form of a request.
type Check = Box<dyn Fn() -> Vec<FieldProblem> + Send + Sync>;

/// The caller, the request that the call belongs to, and what the use cases work with.
pub struct Caller {
    pub(crate) management: Arc<Management>,
    pub(crate) credential: Credential,
    pub(crate) request: Option<String>,
    pub(crate) snapshot: Option<Arc<Snapshot>>,
    check: Option<Check>,
    counted: AtomicBool,
}

impl Caller {
    /// The holder of a management token, and the id of the request for logs and the audit log.
    pub fn token(management: &Arc<Management>, token: SecretHash, request: String) -> Self {
        Self::new(management, Credential::Token(token), Some(request))
    }

    /// A person who has signed in, in one team, or as an operator; and the id of the request.
    pub fn session(
        management: &Arc<Management>,
        hash: SecretHash,
        team: Option<TeamId>,
        request: String,
    ) -> Self {
        let credential = Credential::Session { hash, team };
        Self::new(management, credential, Some(request))
    }

    /// Somebody at a command line.
    pub fn command_line(management: &Arc<Management>) -> Self {
        Self::new(management, Credential::CommandLine, None)
    }

    fn new(management: &Arc<Management>, credential: Credential, request: Option<String>) -> Self {
        Self {
            management: Arc::clone(management),
            credential,
            request,
            snapshot: None,
            check: None,
            counted: AtomicBool::new(false),
        }
    }

    /// Lets the use cases that read share a transaction. Use it for requests that change nothing: what such a request
    /// changed in between, it would not see.
    #[must_use]
    pub fn within(self, snapshot: &Arc<Snapshot>) -> Self {
        Self {
            snapshot: Some(Arc::clone(snapshot)),
            ..self
        }
    }

    /// Adds a check. If it finds mistakes, the request is refused. Only callers who are allowed to
    /// do what they ask for see the mistakes.
    pub fn checked(self, check: impl Fn() -> Vec<FieldProblem> + Send + Sync + 'static) -> Self {
        Self {
            check: Some(Box::new(check)),
            ..self
        }
    }

    pub(crate) fn problems(&self) -> Vec<FieldProblem> {
        self.check.as_ref().map_or_else(Vec::new, |check| check())
    }

    /// Whether the request is not counted yet. A use case that begins several transactions counts
    /// as one request.
    pub(crate) fn is_first(&self) -> bool {
        !self.counted.swap(true, Ordering::Relaxed)
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("credential", &self.credential)
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}

/// Somebody who signs in, at an address, in a request.
#[derive(Clone, Debug)]
pub struct AnonymousCaller {
    /// The address of the client. Behind a proxy it must be the client's all the same: tries are
    /// counted by it.
    pub address: IpAddr,
    /// The header `User-Agent`, as its owner sees it in the list of sessions.
    pub(crate) user_agent: String,
    /// The id of the request, for the audit log.
    pub(crate) request: String,
}

impl AnonymousCaller {
    /// Somebody at this address, with this browser, in this request.
    pub fn new(address: IpAddr, user_agent: &str, request: String) -> Self {
        let printable = user_agent.chars().filter(|c| !c.is_control());
        Self {
            address,
            user_agent: printable.take(LONGEST_USER_AGENT).collect(),
            request,
        }
    }
}
