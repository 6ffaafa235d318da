//! Links that are used once: accepting an invitation, and setting a new password. A person with a
//! link needs no session.

use domain::{
    actor::Actor,
    audit::Action,
    email::Email,
    id::{TeamId, UserId},
    key::SecretHash,
    name::Name,
    role::Role,
    sign_in::MOST_TEAMS,
};
use serde_json::json;
use store::{
    PgConnection,
    audit::{self, Entry},
    person::{
        self, Account,
        failure::{self, Pair},
        link::{self, Invitation, Purpose},
        session,
    },
    team,
};

use super::{SignedIn, enter, record};
use crate::{Conflict, Management, Noun, Refused, Visitor, created};

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
        /// Whether the person has an account. If so, the page asks for its password. If not, it
        /// asks for a name and a new password.
        has_account: bool,
    },
    /// It sets a new password.
    Reset {
        /// The person's e-mail address.
        email: String,
    },
    /// It makes its user the first operator: see [`super::first`].
    First {
        /// The team of which the person becomes an owner, too.
        team: Option<String>,
    },
}

/// Tells what a link is for.
///
/// # Errors
/// It is unknown, used, withdrawn or too old. The answer is the same for all four.
pub async fn look(management: &Management, link: SecretHash) -> Result<Leads, Refused> {
    let mut tx = management.begin().await?;
    match usable(&mut tx, link).await? {
        Purpose::Invitation(invitation) => {
            let team = match invitation.team {
                Some(team) => team::find(&mut tx, team).await?,
                None => None,
            };
            let account = person::account(&mut tx, &address(&invitation.email)?).await?;
            Ok(Leads::Invitation {
                team: team.map(|team| (team.id, team.name)),
                email: invitation.email,
                role: invitation.role,
                has_account: account.is_some(),
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

/// Accepts an invitation, and signs in. A person with an account gives its password. Others choose
/// a name and a password. A second factor is asked for as in every sign-in.
///
/// # Errors
/// The link cannot be used; the password is wrong, or cannot be chosen; a name is missing; the
/// person is in the team already, or in too many.
pub async fn accept(
    management: &Management,
    visitor: &Visitor,
    link: SecretHash,
    name: Option<&Name>,
    password: &str,
) -> Result<SignedIn, Refused> {
    let mut tx = management.begin().await?;
    let Purpose::Invitation(invitation) = usable(&mut tx, link).await? else {
        return Err(Refused::NotFound(Noun::Link));
    };
    let email = address(&invitation.email)?;
    let account = person::account(&mut tx, &email).await?;
    drop(tx);
    let (mut tx, account) = if let Some(account) = account {
        let pair = Pair::of(email.as_str(), shares::client(visitor.address));
        if !management
            .is_password(visitor.address, pair, password, Some(&account))
            .await?
        {
            return Err(Refused::SignInFailed);
        }
        let mut tx = management.begin().await?;
        failure::forget(&mut tx, pair).await?;
        let now = person::lock_account(&mut tx, account.user).await?;
        if now.password_hash != account.password_hash {
            return Err(Refused::SignInFailed);
        }
        (tx, now)
    } else {
        let name = name.ok_or_else(|| Refused::field("name", "must be given"))?;
        let hash = management.choose(visitor.address, &email, password).await?;
        let mut tx = management.begin().await?;
        let user = person::create_account(&mut tx, &email, name, &hash).await?;
        let account = Account {
            // None: another invitation of this person was accepted at the same time.
            user: user.ok_or(Refused::SignInFailed)?,
            email: invitation.email.clone(),
            name: name.as_str().to_owned(),
            password_hash: hash,
            has_password: true,
            has_factor: false,
        };
        (tx, account)
    };
    // If two accept it at the same time, one of them gets it.
    let Some(Purpose::Invitation(invitation)) = link::take(&mut tx, link).await? else {
        return Err(Refused::NotFound(Noun::Link));
    };
    join(&mut tx, visitor, account.user, &invitation).await?;
    let signed_in = enter(&mut tx, visitor, &account).await?;
    let details = json!({ "address": visitor.address });
    let target = signed_in.session.as_uuid();
    record(
        &mut tx,
        account.user,
        visitor,
        Action::SessionCreate,
        target,
        &details,
    )
    .await?;
    tx.commit().await.map_err(store::Error::from)?;
    Ok(signed_in)
}

async fn join(
    conn: &mut PgConnection,
    visitor: &Visitor,
    user: UserId,
    invitation: &Invitation,
) -> Result<(), Refused> {
    let memberships = person::memberships(conn, user).await?;
    if memberships.iter().any(|one| one.team == invitation.team) {
        return Err(Refused::conflict(
            Conflict::AlreadyMember,
            "You are in this team already.",
        ));
    }
    if i64::try_from(memberships.len()).unwrap_or(i64::MAX) >= MOST_TEAMS {
        return Err(Refused::conflict(
            Conflict::LimitReached,
            format!("You are in {MOST_TEAMS} teams, which is the most: leave one first."),
        ));
    }
    let sites = invitation.sites.as_deref();
    let member = person::join(conn, user, invitation.team, invitation.role, sites).await?;
    // The maker of a link to a new password had every scope that the person had then. The person
    // has more now.
    link::cancel_resets(conn, user).await?;
    let joined = person::find(conn, domain::reach::Reach::Everything, member).await?;
    let entry = Entry {
        actor: Actor::Member(member),
        action: Action::InvitationAccept,
        team: invitation.team,
        target: Some(invitation.id.as_uuid()),
        details: &created(&joined),
        request_id: Some(&visitor.request),
    };
    Ok(audit::record(conn, entry).await?)
}

/// Sets a new password with a link. All sessions of the person end. The second factor stays, and
/// the next sign-in asks for it.
///
/// # Errors
/// The link cannot be used, or the password cannot be chosen.
pub async fn reset_password(
    management: &Management,
    visitor: &Visitor,
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
    let hash = management.choose(visitor.address, &email, password).await?;
    let mut tx = management.begin().await?;
    person::lock_account(&mut tx, user).await?;
    let taken = link::take(&mut tx, link).await?;
    if taken != Some(Purpose::Reset(user)) {
        return Err(Refused::NotFound(Noun::Link));
    }
    person::set_password(&mut tx, user, &hash).await?;
    link::cancel_resets(&mut tx, user).await?;
    session::end_all(&mut tx, user, None).await?;
    let action = Action::PasswordReset;
    record(&mut tx, user, visitor, action, user.as_uuid(), &json!({})).await?;
    Ok(tx.commit().await.map_err(store::Error::from)?)
}

async fn usable(conn: &mut PgConnection, link: SecretHash) -> Result<Purpose, Refused> {
    let found = link::find(conn, link).await?;
    found.ok_or(Refused::NotFound(Noun::Link))
}

fn address(stored: &str) -> Result<Email, Refused> {
    let address = stored.parse::<Email>();
    Ok(address.map_err(|error| store::Error::Unreadable(error.to_string()))?)
}
