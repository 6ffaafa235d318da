//! Invitations: list, make, withdraw. The caller who makes one hands the link over, because
//! Gatehouse sends no mail.

use domain::{
    audit::Action,
    email::Email,
    id::{LinkId, TeamId},
    key::LinkSecret,
    reach::Reach,
    role::Role,
    scope::Scope,
    sign_in_limits::MOST_PEOPLE,
};
use serde_json::json;
pub use store::person::one_time_link::Invitation;
use store::{
    page::Page,
    person::{
        self,
        one_time_link::{self, NewInvitation},
    },
    team,
};

use super::{Standing, check, require_scopes_of};
use crate::{Caller, Conflict, Noun, Refused, Session, boxed, created, record};

/// A person to invite.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The team. None: the caller's own team, or an operator if the caller has none.
    pub team: Option<TeamId>,
    /// The person's e-mail address.
    pub email: Email,
    /// The role and the sites.
    pub standing: Standing,
}

/// An invitation with the secret of its link, which is shown once.
#[derive(Debug)]
pub struct IssuedInvitation {
    /// The invitation.
    pub invitation: Invitation,
    /// The secret in the link.
    pub secret: LinkSecret,
}

/// Open invitations within the caller's reach, the oldest first.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(caller: &Caller, page: Page) -> Result<Vec<Invitation>, Refused> {
    let mut session = caller.read(Scope::PeopleRead).await?;
    let reach = session.reach();
    Ok(one_time_link::invitations(session.conn(), reach, page).await?)
}

/// An open invitation.
///
/// # Errors
/// The caller may not do it; there is no such open invitation within reach.
#[boxed]
pub async fn get(caller: &Caller, invitation: LinkId) -> Result<Invitation, Refused> {
    let mut session = caller.read(Scope::PeopleRead).await?;
    let reach = session.reach();
    let found = one_time_link::invitation(session.conn(), reach, invitation).await?;
    found.ok_or(Refused::NotFound(Noun::Invitation))
}

/// Invites a person. An earlier invitation of the same address into the same team stops working.
///
/// # Errors
/// The caller may not do it, or lacks a scope of the role or of the role in the earlier invitation;
/// the team or a site does not exist; the person is in the team already; the team has too many
/// people.
#[boxed]
pub async fn create(caller: &Caller, wanted: &Wanted) -> Result<IssuedInvitation, Refused> {
    let mut session = caller.change(Scope::PeopleWrite).await?;
    let team = session.named_team(wanted.team).await?;
    let sites = check(session.conn(), team, &wanted.standing).await?;
    if let Some(team) = team {
        team::lock(session.conn(), team).await?;
    }
    let role = wanted.standing.role;
    if !sets_up_with(&mut session, team, role).await? {
        require_scopes_of(&session, role)?;
    } else if let Some(team) = team
        && one_time_link::invites_owner(session.conn(), team).await?
    {
        // There is one such invitation at a time.
        require_scopes_of(&session, role)?;
    }
    // The new invitation withdraws an earlier one, so the caller needs the scopes of that one, too.
    if let Some(earlier) = one_time_link::invited_as(session.conn(), team, &wanted.email).await? {
        require_scopes_of(&session, earlier)?;
    }
    if person::is_member(session.conn(), team, &wanted.email).await? {
        return Err(Refused::conflict(
            Conflict::AlreadyMember,
            "This person is in the team already: change the role instead.",
        ));
    }
    if person::count_all(session.conn(), team).await? >= MOST_PEOPLE {
        return Err(Refused::conflict(
            Conflict::LimitReached,
            format!("There are {MOST_PEOPLE} people and open invitations, which is the most."),
        ));
    }
    let by = session.actor();
    let new = NewInvitation {
        team,
        email: &wanted.email,
        role,
        sites: sites.as_deref(),
        by,
    };
    let (invitation, secret) = one_time_link::invite(session.conn(), new).await?;
    let action = Action::InvitationCreate;
    record(session, action, team, invitation.id, created(&invitation)).await?;
    Ok(IssuedInvitation { invitation, secret })
}

/// Withdraws an open invitation.
///
/// # Errors
/// The caller may not do it, or lacks a scope of the role; there is no such open invitation within
/// reach.
#[boxed]
pub async fn cancel(caller: &Caller, invitation: LinkId) -> Result<(), Refused> {
    let mut session = caller.change(Scope::PeopleWrite).await?;
    let reach = session.reach();
    let cancelled = one_time_link::cancel(session.conn(), reach, invitation).await?;
    let cancelled = cancelled.ok_or(Refused::NotFound(Noun::Invitation))?;
    if !sets_up_with(&mut session, cancelled.team, cancelled.role).await? {
        require_scopes_of(&session, cancelled.role)?;
    }
    let details = json!({ "email": cancelled.email, "role": cancelled.role });
    let action = Action::InvitationCancel;
    record(session, action, cancelled.team, invitation, details).await
}

/// Whether a caller who sets up teams makes or withdraws the invitation of a team's first owner.
/// This is the only case in which a caller gives more than they have: operators have no access to
/// what teams submit, but every team needs an owner.
async fn sets_up_with(
    session: &mut Session,
    team: Option<TeamId>,
    role: Role,
) -> Result<bool, Refused> {
    let Some(team) = team.filter(|_| role == Role::Owner) else {
        return Ok(false);
    };
    let sets_up = session.reach() == Reach::Everything && session.has(Scope::TeamsWrite);
    Ok(sets_up && person::count(session.conn(), Some(team), Role::Owner).await? == 0)
}
