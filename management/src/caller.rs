//! Who calls.

use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
};

use domain::{id::TeamId, key::SecretHash};

use crate::FieldProblem;

/// How a caller proves who it is.
#[derive(Clone, Copy, Debug)]
pub enum Credential {
    /// A management token. It is well-formed and may not exist.
    Token(SecretHash),
    /// The session of a person who has signed in, in one team.
    Session {
        /// Of what the browser holds.
        hash: SecretHash,
        /// The team; none: as an operator, in all.
        team: Option<TeamId>,
    },
    /// Somebody at a command line who may open the database. May do everything.
    CommandLine,
}

/// Finds what is wrong with the form of a request.
type Check = Box<dyn Fn() -> Vec<FieldProblem> + Send + Sync>;

/// Who calls, and in which request.
pub struct Caller {
    pub(crate) credential: Credential,
    pub(crate) request: Option<String>,
    check: Option<Check>,
    counted: AtomicBool,
}

impl Caller {
    /// The holder of a management token, and the id of the request for logs and the audit log.
    pub fn token(token: SecretHash, request: String) -> Self {
        Self::new(Credential::Token(token), Some(request))
    }

    /// A person who has signed in, in one team, or as an operator; and the id of the request.
    pub fn session(hash: SecretHash, team: Option<TeamId>, request: String) -> Self {
        Self::new(Credential::Session { hash, team }, Some(request))
    }

    /// Somebody at a command line.
    pub fn command_line() -> Self {
        Self::new(Credential::CommandLine, None)
    }

    fn new(credential: Credential, request: Option<String>) -> Self {
        Self {
            credential,
            request,
            check: None,
            counted: AtomicBool::new(false),
        }
    }

    /// Refuses the request for what this check finds, but tells only callers who may do what they ask for.
    pub fn checked(self, check: impl Fn() -> Vec<FieldProblem> + Send + Sync + 'static) -> Self {
        Self {
            check: Some(Box::new(check)),
            ..self
        }
    }

    pub(crate) fn problems(&self) -> Vec<FieldProblem> {
        self.check.as_ref().map_or_else(Vec::new, |check| check())
    }

    /// Whether the request is not counted yet. A use case may begin more than one transaction and counts as one request.
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
