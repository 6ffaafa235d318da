//! Links that are used once: what each is for, and setting a new password. A person with a link
//! needs no session.

mod accept_invitation;

use domain::{
    audit::Action,
    email::Email,
    id::{TeamId, UserId},
    key::SecretHash,
    role::Role,
};
use serde_json::json;
use store::{
    PgConnection,
    person::{
        self,
        credentials::{self, Others},
        one_time_link::{self, Invitation, Purpose},
    },
    team,
};

use super::{Own, record};
use crate::{AnonymousCaller, Management, Noun, Refused, SignOn, boxed};

pub use accept_invitation::{Accepted, accept, accept_signed_in};

/// What a link is for. The page that it opens shows this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leads {
    /// It makes a person a member of a team, or an operator.
    Invitation {
        /// The team's id and name; none for an operator.
        team: Option<(TeamId, String)>,
        /// The invited e-mail address.
        email: String,
        /// The role.
        role: Role,
        /// What the person has to do.
        entry: Entry,
    },
    /// It sets a new password.
    Reset {
        /// The person's e-mail address.
        email: String,
    },
    /// It makes its user the first operator: see [`super::first_operator`].
    First {
        /// The team of which the person becomes an owner, too.
        team: Option<String>,
    },
}

/// What somebody has to do to accept an invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// To choose a name and a password: there is no account with the address.
    NewAccount,
    /// To sign in at the provider: there is no account with the address, and the address belongs to the provider.
    Provider,
    /// To give the password of the account.
    Password,
    /// Nothing: the person is signed in. From then on, these cannot sign in any more.
    Confirm(Others),
}

/// Tells what a link is for. `held` is the session of the browser.
///
/// # Errors
/// It is unknown, used, withdrawn or too old. The answer is the same for all four.
#[boxed]
pub async fn look(
    management: &Management,
    link: SecretHash,
    held: Option<SecretHash>,
) -> Result<Leads, Refused> {
    let mut tx = management.begin().await?;
    match usable(&mut tx, link).await? {
        Purpose::Invitation(invitation) => {
            let team = match invitation.team {
                Some(team) => team::find(&mut tx, team).await?,
                None => None,
            };
            let account = person::account(&mut tx, &address(&invitation.email)?).await?;
            // The next statements may need the connection.
            drop(tx);
            let entry = match account {
                Some(account) => match signed_in(management, held, account.user).await? {
                    Some(mut own) => Entry::Confirm(
                        credentials::others(&mut own.tx, account.user, Some(own.held.id)).await?,
                    ),
                    None => Entry::Password,
                },
                None if is_providers(management, &invitation)? => Entry::Provider,
                None => Entry::NewAccount,
            };
            Ok(Leads::Invitation {
                team: team.map(|team| (team.id, team.name)),
                email: invitation.email,
                role: invitation.role,
                entry,
            })
        }
        Purpose::Reset(user) => {
            let account = person::lock_account(&mut tx, user).await?;
            Ok(Leads::Reset {
                email: account.email,
            })
        }
        Purpose::First(first) => {
            let team = match first.team {
                Some(team) => team::find(&mut tx, team).await?,
                None => None,
            };
            Ok(Leads::First {
                team: team.map(|team| team.name),
            })
        }
    }
}

/// The session, if it is one of this account and has given what the account needs.
async fn signed_in(
    management: &Management,
    held: Option<SecretHash>,
    user: UserId,
) -> Result<Option<Own>, Refused> {
    let Some(held) = held else {
        return Ok(None);
    };
    match management.own(held).await {
        Ok(own) => Ok((own.held.user == user).then_some(own)),
        Err(Refused::Unauthenticated | Refused::Forbidden(..)) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Whether the provider says who owns the invited address, so that a team's link creates no account for it. Operators choose
/// themselves whom they make an operator, and one with a password is of use when the provider is down.
fn is_providers(management: &Management, invitation: &Invitation) -> Result<bool, Refused> {
    let email = address(&invitation.email)?;
    let owns = |sign_on: &SignOn| sign_on.owns(&email);
    Ok(invitation.team.is_some() && management.sign_on.as_ref().is_some_and(owns))
}

/// Sets a new password with a link. Everything ends that could sign in before: sessions, identities at providers, recovery
/// codes, and other links. The second factor stays, and the next sign-in asks for it.
///
/// # Errors
/// The link cannot be used, or the password cannot be chosen.
#[boxed]
pub async fn reset_password(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    link: SecretHash,
    password: &str,
) -> Result<(), Refused> {
    let mut tx = management.begin().await?;
    let Purpose::Reset(user) = usable(&mut tx, link).await? else {
        return Err(Refused::NotFound(Noun::Link));
    };
    let account = person::lock_account(&mut tx, user).await?;
    drop(tx);
    let email = address(&account.email)?;
    let hash = management
        .choose(anonymous_caller.address, &email, password)
        .await?;
    let mut tx = management.begin().await?;
    person::lock_account(&mut tx, user).await?;
    let taken = one_time_link::take(&mut tx, link).await?;
    if taken != Some(Purpose::Reset(user)) {
        return Err(Refused::NotFound(Noun::Link));
    }
    person::set_password(&mut tx, user, &hash).await?;
    let ended = credentials::end_all(&mut tx, user).await?;
    let details = json!(ended);
    let action = Action::PasswordReset;
    record(
        &mut tx,
        user,
        anonymous_caller,
        action,
        user.as_uuid(),
        &details,
    )
    .await?;
    Ok(tx.commit().await.map_err(store::Error::from)?)
}

async fn usable(conn: &mut PgConnection, link: SecretHash) -> Result<Purpose, Refused> {
    let found = one_time_link::find(conn, link).await?;
    found.ok_or(Refused::NotFound(Noun::Link))
}

fn address(stored: &str) -> Result<Email, Refused> {
    let address = stored.parse::<Email>();
    Ok(address.map_err(|error| store::Error::Unreadable(error.to_string()))?)
}
