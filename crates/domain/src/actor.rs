//! Who did something. The audit log, versions, verdicts and other records name the actor.

use uuid::Uuid;

use crate::id::{ActorId, MemberId, TokenId};

/// Who did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Actor {
    /// The holder of a management token. The token's id is the actor's.
    Token(TokenId),
    /// A person who has signed in, as a member of a team or as an operator. The membership's id is
    /// the actor's.
    Member(MemberId),
    /// Somebody at a command line with access to the database.
    CommandLine,
}

impl Actor {
    /// As stored beside what the actor did; none for the command line.
    pub fn id(self) -> Option<ActorId> {
        match self {
            Self::Token(token) => Some(token.as_uuid().into()),
            Self::Member(member) => Some(member.as_uuid().into()),
            Self::CommandLine => None,
        }
    }

    /// The bare id, for SQL parameters.
    pub fn as_uuid(self) -> Option<Uuid> {
        self.id().map(ActorId::as_uuid)
    }

    /// The kind of actor: `token`, `member` or `command_line`.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Token(_) => "token",
            Self::Member(_) => "member",
            Self::CommandLine => "command_line",
        }
    }
}
