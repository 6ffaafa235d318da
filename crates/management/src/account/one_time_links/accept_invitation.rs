//! Accepting an invitation.

use domain::{
    actor::Actor,
    audit::Action,
    email::Email,
    id::{SessionId, UserId},
    key::SecretHash,
    name::Name,
    sign_in_limits::MOST_TEAMS,
};
use serde_json::json;
use store::{
    PgConnection, PgTransaction,
    audit::{self, Entry},
    person::{
        self, Account, credentials,
        failed_sign_in::{self, Pair},
        one_time_link::{self, Invitation, Purpose},
    },
};

use super::{address, is_providers, signed_in, usable};
use crate::{
    AnonymousCaller, Conflict, Management, Noun, Refused,
    account::{Next, SignedIn, enter, record},
    boxed, created,
};

/// How far a person came with an invitation.
#[derive(Debug)]
pub enum Accepted {
    /// The person is in the team, and signed in.
    Joined(SignedIn),
    /// The person is signed in, and not in the team yet. Either the account has a second factor, which comes first, or
    /// something else can sign in to it, which the person must see before it ends. [`accept_signed_in`] is next.
    SignedIn(SignedIn),
}

/// Accepts an invitation, and signs in. A person with an account gives its password. Others choose a name and a password.
///
/// # Errors
/// The link cannot be used; the password is wrong, or cannot be chosen; a name is missing; the address belongs to the
/// provider of single sign-on; the person is in the team already, or in too many.
#[boxed]
pub async fn accept(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    link: SecretHash,
    name: Option<&Name>,
    password: &str,
) -> Result<Accepted, Refused> {
    let mut tx = management.begin().await?;
    let Purpose::Invitation(invitation) = usable(&mut tx, link).await? else {
        return Err(Refused::NotFound(Noun::Link));
    };
    let email = address(&invitation.email)?;
    let account = person::account(&mut tx, &email).await?;
    drop(tx);
    let (mut tx, account) = match account {
        Some(account) => {
            let (mut tx, account) =
                prove(management, anonymous_caller, &email, password, &account).await?;
            let others = credentials::others(&mut tx, account.user, None).await?;
            if account.has_factor || !others.is_empty() {
                let signed_in = sign_in(&mut tx, anonymous_caller, &account).await?;
                tx.commit().await.map_err(store::Error::from)?;
                return Ok(Accepted::SignedIn(signed_in));
            }
            (tx, account)
        }
        None if is_providers(management, &invitation)? => {
            return Err(Refused::Invalid(
                "This address belongs to the sign-in service: sign in there.".into(),
            ));
        }
        None => {
            let name = name.ok_or_else(|| Refused::field("name", "must be given"))?;
            let hash = management
                .choose(anonymous_caller.address, &email, password)
                .await?;
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
        }
    };
    join(&mut tx, anonymous_caller, account.user, None, link).await?;
    let signed_in = sign_in(&mut tx, anonymous_caller, &account).await?;
    tx.commit().await.map_err(store::Error::from)?;
    Ok(Accepted::Joined(signed_in))
}

/// Accepts an invitation with the session of the invited account. What else can sign in to the account ends: other sessions,
/// identities at providers, recovery codes, and links to a new password. This session stays, and the identity with which it
/// began. All teams of the person are told.
///
/// # Errors
/// The link cannot be used; the session is not of the invited account, lacks its second factor, or gave the password too
/// long ago; the person is in the team already, or in too many.
#[boxed]
pub async fn accept_signed_in(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    link: SecretHash,
    session: SecretHash,
) -> Result<Next, Refused> {
    let mut tx = management.begin().await?;
    let Purpose::Invitation(invitation) = usable(&mut tx, link).await? else {
        return Err(Refused::NotFound(Noun::Link));
    };
    let account = person::account(&mut tx, &address(&invitation.email)?).await?;
    drop(tx);
    let account = account.ok_or(Refused::SignInFailed)?;
    let own = signed_in(management, Some(session), account.user).await?;
    let mut own = own.ok_or(Refused::SignInFailed)?;
    own.require_recent_password()?;
    let (user, this) = (own.held.user, own.held.id);
    join(&mut own.tx, anonymous_caller, user, Some(this), link).await?;
    let must_set_up = !own.held.has_given_factor && person::needs_factor(&mut own.tx, user).await?;
    own.tx.commit().await.map_err(store::Error::from)?;
    Ok(if must_set_up {
        Next::SetUpFactor
    } else {
        Next::Enter
    })
}

/// A transaction that has locked the account whose password this is.
async fn prove(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    email: &Email,
    password: &str,
    account: &Account,
) -> Result<(PgTransaction<'static>, Account), Refused> {
    let pair = Pair::of(email.as_str(), fair_share::client(anonymous_caller.address));
    if !management
        .is_password(anonymous_caller.address, pair, password, Some(account))
        .await?
    {
        return Err(Refused::SignInFailed);
    }
    let mut tx = management.begin().await?;
    failed_sign_in::forget(&mut tx, pair).await?;
    let now = person::lock_account(&mut tx, account.user).await?;
    if now.password_hash != account.password_hash {
        return Err(Refused::SignInFailed);
    }
    Ok((tx, now))
}

async fn sign_in(
    conn: &mut PgConnection,
    anonymous_caller: &AnonymousCaller,
    account: &Account,
) -> Result<SignedIn, Refused> {
    let signed_in = enter(conn, anonymous_caller, account).await?;
    let details = json!({ "address": anonymous_caller.address });
    let (action, target) = (Action::SessionCreate, signed_in.session.as_uuid());
    record(
        conn,
        account.user,
        anonymous_caller,
        action,
        target,
        &details,
    )
    .await?;
    Ok(signed_in)
}

/// Uses up the invitation. What else can sign in ends, `but` this session.
async fn join(
    conn: &mut PgConnection,
    anonymous_caller: &AnonymousCaller,
    user: UserId,
    but: Option<SessionId>,
    link: SecretHash,
) -> Result<(), Refused> {
    // If two accept it at the same time, one of them gets it.
    let Some(Purpose::Invitation(invitation)) = one_time_link::take(conn, link).await? else {
        return Err(Refused::NotFound(Noun::Link));
    };
    add(conn, anonymous_caller, user, &invitation).await?;
    // Whoever made a link to a new password had every scope that the person had then. The person has more now.
    let ended = credentials::end_others(conn, user, but).await?;
    if !ended.is_nothing() {
        let details = json!(ended);
        let action = Action::AccessEnd;
        record(
            conn,
            user,
            anonymous_caller,
            action,
            user.as_uuid(),
            &details,
        )
        .await?;
    }
    Ok(())
}

async fn add(
    conn: &mut PgConnection,
    anonymous_caller: &AnonymousCaller,
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
    let joined = person::find(conn, domain::reach::Reach::Everything, member).await?;
    let entry = Entry {
        actor: Actor::Member(member),
        action: Action::InvitationAccept,
        team: invitation.team,
        target: Some(invitation.id.as_uuid()),
        details: &created(&joined),
        request_id: Some(&anonymous_caller.request),
    };
    Ok(audit::record(conn, entry).await?)
}
