//! The roles that a provider grants: `operator`, or `<team id>:<role>`, after a prefix.

use std::collections::BTreeMap;

use domain::{id::TeamId, role::Role, sign_in_limits::MOST_TEAMS};
use tracing::warn;

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
