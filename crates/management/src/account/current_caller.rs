//! Who the caller is, and what the caller may do.

use domain::{actor::Actor, reach::Reach, scope::Scope};
use store::{
    person::{self, Membership, Person},
    token::{self, Token},
};

use crate::{Caller, Refused, boxed};

/// Who the caller is.
#[derive(Clone, Debug)]
pub struct Me {
    /// The actor, as in the audit log.
    pub actor: Actor,
    /// The teams in which the caller acts.
    pub reach: Reach,
    /// The scopes of the caller.
    pub scopes: Vec<Scope>,
    /// The token or the person.
    pub who: Who,
}

/// The token or the person behind a caller.
#[derive(Clone, Debug)]
pub enum Who {
    /// A management token.
    Token(Box<Token>),
    /// A person, in one team or as an operator, with all teams that the person is in.
    Person(Box<Person>, Vec<Membership>),
    /// The command line.
    CommandLine,
}

/// Tells who the caller is. This needs no scope.
///
/// # Errors
/// The credential is not valid.
#[boxed]
pub async fn get(caller: &Caller) -> Result<Me, Refused> {
    let mut session = caller.read_own().await?;
    let (actor, reach) = (session.actor(), session.reach());
    let who = match actor {
        Actor::Token(id) => {
            let token = token::find(session.conn(), reach, id).await?;
            Who::Token(Box::new(token.ok_or(Refused::Unauthenticated)?))
        }
        Actor::Member(id) => {
            let person = person::find(session.conn(), reach, id).await?;
            let person = person.ok_or(Refused::Unauthenticated)?;
            let memberships = person::memberships(session.conn(), person.user).await?;
            Who::Person(Box::new(person), memberships)
        }
        Actor::CommandLine => Who::CommandLine,
    };
    Ok(Me {
        actor,
        reach,
        scopes: session.grant().scopes.clone(),
        who,
    })
}
