//! Open invitations: the list, and withdrawing one.

use std::{collections::HashMap, sync::Arc};

use askama::Template;
use domain::{
    id::{LinkId, TeamId},
    role::Role,
    scope::Scope,
};
use management::{
    Refused, display_names,
    people::{
        self,
        invitations::{self, Invitation},
    },
};
use uuid::Uuid;

use super::{Named, sites};
use crate::{
    page::{self, Area, Frame, pager},
    request::PageRequest,
    router::Answer,
    time::Moment,
};

#[derive(Template)]
#[template(path = "people/invitations.html")]
struct List {
    frame: Frame,
    at: Area,
    tab: &'static str,
    rows: Vec<Row>,
    next: Option<String>,
}

/// An open invitation.
struct Row {
    id: LinkId,
    email: String,
    team: Option<Named>,
    role: Role,
    sites: String,
    made: Moment,
    until: Moment,
    /// Whether the person who looks may withdraw it.
    may_cancel: bool,
}

pub(crate) async fn list(request: Arc<PageRequest>) -> Answer {
    let at = request.at()?;
    let frame = Frame::of(&request, at, "people").await?;
    let caller = request.caller(at.team())?;
    let listed = invitations::list(&request.management, &caller, pager::asked(&request)).await?;
    let teams = listed.iter().filter_map(|invitation| invitation.team);
    let sites = listed
        .iter()
        .filter_map(|invitation| invitation.sites.as_ref());
    let sites = sites.flat_map(|sites| sites.iter().take(super::FEW));
    let ids = sites.map(|site| site.as_uuid());
    let ids: Vec<Uuid> = teams.map(TeamId::as_uuid).chain(ids).collect();
    let names = display_names::of(&request.management, &caller, &ids).await?;
    let first = first_owners(&request, at, &listed).await?;
    let next = pager::next(&request, &listed, |invitation| invitation.id);
    let rows = listed.into_iter().map(|invitation| {
        let given = frame.may_give(invitation.role);
        let may = given || invitation.team.is_some_and(|team| first.contains(&team));
        row(invitation, at, &names, may && frame.may(Scope::PeopleWrite))
    });
    Ok(page::shown(&List {
        rows: rows.collect(),
        frame,
        at,
        tab: "invitations",
        next,
    }))
}

/// The teams that have no owner yet: an operator may withdraw the invitation of their first one.
async fn first_owners(
    request: &PageRequest,
    at: Area,
    listed: &[Invitation],
) -> Result<Vec<TeamId>, Refused> {
    if at != Area::Instance {
        return Ok(Vec::new());
    }
    let owners = listed.iter().filter(|one| one.role == Role::Owner);
    let mut teams: Vec<TeamId> = owners.filter_map(|one| one.team).collect();
    teams.sort_unstable();
    teams.dedup();
    let caller = request.caller(None)?;
    people::without_owner(&request.management, &caller, &teams).await
}

fn row(invitation: Invitation, at: Area, names: &HashMap<Uuid, String>, may_cancel: bool) -> Row {
    let team = invitation.team.filter(|_| at == Area::Instance);
    Row {
        id: invitation.id,
        team: team.map(|team| Named::of(team, names)),
        sites: sites(invitation.role, invitation.sites.as_deref(), names),
        email: invitation.email,
        role: invitation.role,
        made: invitation.created_at.into(),
        until: invitation.expires_at.into(),
        may_cancel,
    }
}

pub(crate) async fn cancel(request: Arc<PageRequest>) -> Answer {
    let (at, invitation) = (request.at()?, request.id("invitation")?);
    let caller = request.caller(at.team())?;
    invitations::cancel(&request.management, &caller, invitation).await?;
    Ok(page::see_other(
        at.path("people/invitations?done=invitation-cancelled"),
    ))
}
