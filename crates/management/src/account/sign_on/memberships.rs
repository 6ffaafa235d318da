//! Brings a person's memberships up to date with what the provider grants. What people gave or took by hand stays.

use std::collections::BTreeMap;

use domain::{
    actor::Actor,
    audit::Action,
    id::{MemberId, TeamId, UserId},
    reach::Reach,
    role::Role,
    sign_in_limits::{MOST_PEOPLE, MOST_TEAMS},
};
use serde_json::{Value, json};
use store::{
    PgConnection,
    audit::{self, Entry},
    person::{
        self, Person, one_time_link,
        sso_membership::{self, Held},
    },
    team,
};
use tracing::warn;

use crate::{AnonymousCaller, Refused, created, difference};

/// Adds, changes and takes away what the provider grants. Run it in a transaction that has locked the account.
pub(super) async fn bring_up_to_date(
    conn: &mut PgConnection,
    anonymous_caller: &AnonymousCaller,
    user: UserId,
    wanted: &Wanted,
) -> Result<(), Refused> {
    // Teams before memberships, and in order, as everybody who changes people does.
    let wanted = lock_teams(conn, user, wanted.clone()).await?;
    let held = sso_membership::lock_all(conn, user).await?;
    for (team, role) in &wanted {
        match held.iter().find(|one| one.team == *team) {
            Some(one) if !one.by_provider => {}
            Some(one) if !one.is_disabled && one.role == *role => {}
            Some(one) if !one.is_disabled => {
                change(conn, anonymous_caller, user, one, *role).await?;
            }
            Some(_) | None => join(conn, anonymous_caller, user, *team, *role).await?,
        }
    }
    let granted = held
        .iter()
        .filter(|one| one.by_provider && !one.is_disabled);
    for one in granted.filter(|one| !wanted.contains_key(&one.team)) {
        withdraw(conn, anonymous_caller, user, one).await?;
    }
    Ok(())
}

/// Locks the teams of what is wanted and of what the person has. Without the teams that do not exist.
async fn lock_teams(
    conn: &mut PgConnection,
    user: UserId,
    mut wanted: Wanted,
) -> Result<Wanted, Refused> {
    let present = person::memberships(conn, user).await?;
    let mut teams: Vec<TeamId> = present.iter().filter_map(|one| one.team).collect();
    teams.extend(wanted.keys().flatten());
    teams.sort_unstable();
    teams.dedup();
    for team in teams {
        if team::lock(conn, team).await?.is_none() {
            warn!(%team, "the provider grants a role in a team that does not exist");
            wanted.remove(&Some(team));
        }
    }
    Ok(wanted)
}

async fn join(
    conn: &mut PgConnection,
    anonymous_caller: &AnonymousCaller,
    user: UserId,
    team: Option<TeamId>,
    role: Role,
) -> Result<(), Refused> {
    if person::count_all(conn, team).await? >= MOST_PEOPLE {
        warn!(
            ?team,
            "the provider grants a role, but there are {MOST_PEOPLE} people and open invitations, which is the most"
        );
        return Ok(());
    }
    let Some(member) = sso_membership::grant(conn, user, team, role).await? else {
        return Ok(());
    };
    // Whoever made a link to a new password had every scope that the person had then. The person has more now.
    one_time_link::cancel_resets(conn, user).await?;
    let joined = find(conn, member).await?;
    let details = created(&joined);
    record(
        conn,
        anonymous_caller,
        &joined,
        Action::PersonCreate,
        details,
    )
    .await
}

async fn change(
    conn: &mut PgConnection,
    anonymous_caller: &AnonymousCaller,
    user: UserId,
    held: &Held,
    role: Role,
) -> Result<(), Refused> {
    if role != Role::Owner && is_only_owner(conn, held).await? {
        return Ok(());
    }
    let before = find(conn, held.id).await?;
    if sso_membership::grant(conn, user, held.team, role)
        .await?
        .is_none()
    {
        return Ok(());
    }
    one_time_link::cancel_resets(conn, user).await?;
    if role.beyond(held.role.scopes()).is_none() {
        // Links that the person has made with the higher role stop working.
        one_time_link::cancel_made_by(conn, &[Actor::Member(held.id)]).await?;
    }
    let after = find(conn, held.id).await?;
    match difference(&before, &after) {
        Some(details) => {
            record(
                conn,
                anonymous_caller,
                &after,
                Action::PersonUpdate,
                details,
            )
            .await
        }
        None => Ok(()),
    }
}

async fn withdraw(
    conn: &mut PgConnection,
    anonymous_caller: &AnonymousCaller,
    user: UserId,
    held: &Held,
) -> Result<(), Refused> {
    if is_only_owner(conn, held).await? {
        return Ok(());
    }
    sso_membership::withdraw(conn, held.id).await?;
    one_time_link::cancel_made_by(conn, &[Actor::Member(held.id)]).await?;
    one_time_link::cancel_resets(conn, user).await?;
    let person = find(conn, held.id).await?;
    let details = json!({ "email": person.email, "role": person.role });
    record(
        conn,
        anonymous_caller,
        &person,
        Action::PersonDisable,
        details,
    )
    .await
}

/// A team keeps at least one owner, whatever the provider says.
async fn is_only_owner(conn: &mut PgConnection, held: &Held) -> Result<bool, Refused> {
    let is_only =
        held.role == Role::Owner && person::count(conn, held.team, Role::Owner).await? <= 1;
    if is_only {
        warn!(
            person = %held.id,
            "the provider no longer grants the role of a team's only owner: the person keeps it until there is another owner"
        );
    }
    Ok(is_only)
}

async fn find(conn: &mut PgConnection, member: MemberId) -> Result<Person, Refused> {
    let person = person::find(conn, Reach::Everything, member).await?;
    person.ok_or(Refused::Internal)
}

/// The actor is the person who signs in, at whose request it happens; the details say who decided it.
async fn record(
    conn: &mut PgConnection,
    anonymous_caller: &AnonymousCaller,
    person: &Person,
    action: Action,
    mut details: Value,
) -> Result<(), Refused> {
    details["decided_by"] = json!("provider");
    let entry = Entry {
        actor: Actor::Member(person.id),
        action,
        team: person.team,
        target: Some(person.id.as_uuid()),
        details: &details,
        request_id: Some(&anonymous_caller.request),
    };
    Ok(audit::record(conn, entry).await?)
}

/// The role in each team; without a team, on the whole instance.
pub(super) type Wanted = BTreeMap<Option<TeamId>, Role>;

/// How much of a wrong value is logged.
const LOGGED: usize = 80;

/// The granted roles. Values without the prefix are other applications'. Of several roles in a team, the highest counts.
pub(super) fn wanted(values: &[String], prefix: &str) -> Wanted {
    let mut wanted = Wanted::new();
    for value in values.iter().filter_map(|value| value.strip_prefix(prefix)) {
        let Some((team, role)) = parse(value) else {
            // Without a prefix, nearly all values are other applications'.
            if !prefix.is_empty() {
                let value: String = value.chars().take(LOGGED).collect();
                warn!(
                    ?value,
                    "a role of the provider is neither `operator` nor `<team id>:<role>`"
                );
            }
            continue;
        };
        if wanted.len() >= usize::try_from(MOST_TEAMS).unwrap_or(usize::MAX)
            && !wanted.contains_key(&team)
        {
            warn!(
                "the provider grants a person roles in more than {MOST_TEAMS} teams: the others are left out"
            );
            break;
        }
        let granted = wanted.entry(team).or_insert(role);
        if rank(role) > rank(*granted) {
            *granted = role;
        }
    }
    wanted
}

fn parse(value: &str) -> Option<(Option<TeamId>, Role)> {
    if value == Role::Operator.as_str() {
        return Some((None, Role::Operator));
    }
    let (team, role) = value.split_once(':')?;
    let team: uuid::Uuid = team.parse().ok()?;
    let role: Role = role.parse().ok()?;
    (role != Role::Operator).then_some((Some(team.into()), role))
}

/// The place of a role among all, from the lowest.
fn rank(role: Role) -> usize {
    let place = Role::ALL.iter().position(|one| *one == role);
    place.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEAM: &str = "018f3f3e-0000-7000-8000-000000000001";

    fn of(values: &[&str], prefix: &str) -> Vec<(bool, Role)> {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        let wanted = wanted(&values, prefix).into_iter();
        wanted.map(|(team, role)| (team.is_some(), role)).collect()
    }

    #[test]
    fn the_highest_role_of_each_team_counts() {
        let value = |role: &str| format!("gatehouse:{TEAM}:{role}");
        let values = [
            value("viewer"),
            value("admin"),
            value("moderator"),
            "gatehouse:operator".to_owned(),
        ];
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        assert_eq!(
            of(&values, "gatehouse:"),
            [(false, Role::Operator), (true, Role::Admin)]
        );
    }

    #[test]
    fn what_is_no_role_is_left_out() {
        for value in [
            "",
            "operator",
            "gatehouse:",
            "gatehouse:owner",
            "gatehouse:Operator",
            "gatehouse:marktplatz:owner",
            "gatehouse:018f3f3e-0000-7000-8000-000000000001:operator",
            "gatehouse:018f3f3e-0000-7000-8000-000000000001:root",
            "gatehouse:018f3f3e-0000-7000-8000-000000000001:owner ",
            "other:operator",
        ] {
            assert!(of(&[value], "gatehouse:").is_empty(), "{value}");
        }
        assert_eq!(of(&["operator"], ""), [(false, Role::Operator)]);
    }

    #[test]
    fn a_person_gets_roles_in_a_bounded_number_of_teams() {
        let value = |number: u32| format!("018f3f3e-0000-7000-8000-{number:012}:viewer");
        let values: Vec<String> = (0..1_000).map(value).collect();
        assert_eq!(wanted(&values, "").len(), 50);
    }
}
