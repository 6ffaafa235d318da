//! The first person: while nobody runs the instance, the person with the link that the command line prints becomes its operator.

use domain::{
    actor::Actor,
    audit::Action,
    email::Email,
    id::TeamId,
    key::{LinkSecret, SecretHash},
    name::Name,
    role::Role,
};
use serde_json::json;
use store::{
    audit::{self, Entry},
    example_data,
    person::{
        self, Account, first_operator,
        one_time_link::{self, First, Purpose},
    },
};

use super::{SignedIn, enter, record};
use crate::{AnonymousCaller, Conflict, Management, Noun, Refused, boxed, created};

/// A link for the first operator, who also becomes an owner of `team`. None if somebody runs the instance already. Earlier
/// such links stop working.
///
/// # Errors
/// The database failed.
#[boxed]
pub async fn link(
    management: &Management,
    team: Option<TeamId>,
) -> Result<Option<LinkSecret>, Refused> {
    let mut tx = management.begin().await?;
    if first_operator::is_run(&mut tx).await? {
        return Ok(None);
    }
    let secret = first_operator::link(&mut tx, team, Actor::CommandLine).await?;
    tx.commit().await.map_err(store::Error::from)?;
    Ok(Some(secret))
}

/// Creates the account of the first operator, who also becomes an owner of the example team while that has none, and signs in. The person must set up a second factor next.
///
/// # Errors
/// The link cannot be used, somebody runs the instance meanwhile, the address has an account, or the password cannot be
/// chosen.
#[boxed]
pub async fn become_operator(
    management: &Management,
    anonymous_caller: &AnonymousCaller,
    link: SecretHash,
    email: &Email,
    name: &Name,
    password: &str,
) -> Result<SignedIn, Refused> {
    let mut tx = management.begin().await?;
    usable(one_time_link::find(&mut tx, link).await?.as_ref())?;
    drop(tx);
    let hash = management
        .choose(anonymous_caller.address, email, password)
        .await?;

    let mut tx = management.begin().await?;
    // If two use it at the same time, one of them gets it.
    let first = usable(one_time_link::take(&mut tx, link).await?.as_ref())?;
    if first_operator::is_run(&mut tx).await? {
        return Err(Refused::NotFound(Noun::Link));
    }
    let user = person::create_account(&mut tx, email, name, &hash).await?;
    let user = user.ok_or_else(|| {
        Refused::conflict(
            Conflict::AlreadyMember,
            "This address has an account already: use another one.",
        )
    })?;
    let example = example_data::wants_owner(&mut tx).await?;
    let owned = [first.team, example.then_some(example_data::TEAM)];
    let owned = owned.into_iter().flatten();
    let roles = [(None, Role::Operator)].into_iter();
    for (team, role) in roles.chain(owned.map(|team| (Some(team), Role::Owner))) {
        let member = person::join(&mut tx, user, team, role, None).await?;
        let joined = person::find(&mut tx, domain::reach::Reach::Everything, member).await?;
        let entry = Entry {
            actor: Actor::Member(member),
            action: Action::InvitationAccept,
            team,
            target: Some(first.id.as_uuid()),
            details: &created(&joined),
            request_id: Some(&anonymous_caller.request),
        };
        audit::record(&mut tx, entry).await?;
    }
    let account = Account {
        user,
        email: email.as_str().to_owned(),
        name: name.as_str().to_owned(),
        password_hash: hash,
        has_password: true,
        has_factor: false,
    };
    let signed_in = enter(&mut tx, anonymous_caller, &account).await?;
    let details = json!({ "address": anonymous_caller.address });
    let (action, target) = (Action::SessionCreate, signed_in.session.as_uuid());
    record(&mut tx, user, anonymous_caller, action, target, &details).await?;
    tx.commit().await.map_err(store::Error::from)?;
    Ok(signed_in)
}

fn usable(found: Option<&Purpose>) -> Result<First, Refused> {
    match found {
        Some(Purpose::First(first)) => Ok(*first),
        _ => Err(Refused::NotFound(Noun::Link)),
    }
}
