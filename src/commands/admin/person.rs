//! People: `gatehouse admin create-user`, `reset-password`, `remove-factor`, `hand-over` and `list-users`.

use std::sync::Arc;

use ::console::public_url;
use clap::Args;
use domain::{
    email::Email,
    id::{SiteId, TeamId},
    key::LinkSecret,
    role::Role,
};
use management::{
    Caller, Management, Refused,
    people::{
        self, Standing, factor_removal,
        invitations::{self, Wanted},
        password_resets,
        transfer_account::transfer_account as hand_account_over,
    },
};
use serde_json::{Value, json};
use store::page::Page;

use crate::{
    commands::console,
    config::{PublicUrlOptions, id, one_of},
};

/// How many people are read by one statement.
const PAGE: i64 = 1_000;

/// Options of `gatehouse admin create-user`.
#[derive(Debug, Args)]
pub(super) struct NewUser {
    /// The person's e-mail address; Gatehouse sends no mail
    #[arg(long)]
    email: Email,
    /// What the person may do
    #[arg(long, value_parser = one_of(Role::ALL.iter().copied(), Role::as_str))]
    role: Role,
    /// The team; omit it for an operator, who belongs to none
    #[arg(long, value_parser = id::<TeamId>)]
    team: Option<TeamId>,
    /// The sites on which a moderator decides, separated by commas; all by default
    #[arg(long, value_delimiter = ',', value_parser = id::<SiteId>)]
    sites: Vec<SiteId>,
    #[command(flatten)]
    console: PublicUrlOptions,
}

/// Options of `gatehouse admin reset-password` and `gatehouse admin hand-over`.
#[derive(Debug, Args)]
pub(super) struct Reset {
    /// The person's e-mail address
    #[arg(long)]
    email: Email,
    #[command(flatten)]
    console: PublicUrlOptions,
}

pub(super) async fn invite(management: &Arc<Management>, new: NewUser) -> Result<Value, Refused> {
    let wanted = Wanted {
        team: new.team,
        email: new.email,
        standing: Standing {
            role: new.role,
            sites: (!new.sites.is_empty()).then_some(new.sites),
        },
    };
    let issued = invitations::create(&Caller::command_line(management), &wanted).await?;
    Ok(json!({
        "invitation_id": issued.invitation.id,
        "email": issued.invitation.email,
        "link": link(&new.console, &issued.secret),
        "expires_at": issued.invitation.expires_at,
    }))
}

pub(super) async fn reset(management: &Arc<Management>, wanted: Reset) -> Result<Value, Refused> {
    let Reset { email, console } = wanted;
    let issued = password_resets::create_of(&Caller::command_line(management), &email).await?;
    Ok(json!({
        "email": email,
        "link": link(&console, &issued.secret),
        "expires_at": issued.expires_at,
    }))
}

/// The URL to hand over.
fn link(options: &PublicUrlOptions, secret: &LinkSecret) -> String {
    public_url::link(&console::elsewhere(options), secret)
}

pub(super) async fn remove_factor(
    management: &Arc<Management>,
    email: &Email,
) -> Result<Value, Refused> {
    let removed = factor_removal::remove(&Caller::command_line(management), email).await?;
    Ok(json!({
        "email": email,
        "had_factor": removed.had_factor,
        "ended_sessions": removed.ended.sessions,
        "ended_identities": removed.ended.identities,
        "ended_recovery_codes": removed.ended.recovery_codes,
        "ended_links": removed.ended.links,
        "must_set_up": removed.must_set_up,
    }))
}

pub(super) async fn hand_over(
    management: &Arc<Management>,
    wanted: Reset,
) -> Result<Value, Refused> {
    let Reset { email, console } = wanted;
    let done = hand_account_over(&Caller::command_line(management), &email).await?;
    Ok(json!({
        "email": email,
        "had_factor": done.had_factor,
        "ended_sessions": done.ended.sessions,
        "ended_identities": done.ended.identities,
        "ended_recovery_codes": done.ended.recovery_codes,
        "ended_links": done.ended.links,
        "tokens": done.tokens,
        "link": link(&console, &done.link.secret),
        "expires_at": done.link.expires_at,
    }))
}

pub(super) async fn list(
    management: &Arc<Management>,
    team: Option<TeamId>,
) -> Result<Value, Refused> {
    let mut listed = Vec::new();
    let mut after = None;
    loop {
        let page = Page { after, limit: PAGE };
        let people = people::list(&Caller::command_line(management), page).await?;
        let Some(last) = people.last() else { break };
        after = Some(last.id.as_uuid());
        let wanted = people
            .iter()
            .filter(|person| team.is_none_or(|team| person.team == Some(team)));
        listed.extend(wanted.map(|person| {
            json!({
                "id": person.id,
                "team_id": person.team,
                "email": person.email,
                "name": person.name,
                "role": person.role,
                "site_ids": person.sites,
                "has_factor": person.has_factor,
                "disabled_at": person.disabled_at,
            })
        }));
    }
    Ok(json!({ "users": listed }))
}
