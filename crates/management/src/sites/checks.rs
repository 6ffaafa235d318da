//! Rule groups and providers that the settings of a site name.

use domain::id::TeamId;
use store::{
    PgConnection, provider,
    site::{self, settings::Settings},
};

use crate::{FieldFault, Refused};

/// The most rule groups that a site can have. All of them judge every submission.
pub const MOST_GROUPS: usize = 50;

/// The most providers that a site can have. In the worst case, a text is sent to all of them.
pub const MOST_PROVIDERS: usize = 20;

/// Refuses groups of other teams, as if they did not exist.
pub(super) async fn require_groups(
    conn: &mut PgConnection,
    team: TeamId,
    settings: &Settings,
) -> Result<(), Refused> {
    let Settings {
        default_rule_group,
        rule_groups,
        ..
    } = settings;
    if rule_groups.len() > MOST_GROUPS {
        let message = format!("must have at most {MOST_GROUPS}");
        return Err(Refused::field("rule_group_ids", message));
    }
    let named = [&[*default_rule_group], rule_groups.as_slice()].concat();
    let own = site::settings::own_groups(conn, team, &named).await?;
    let Some(foreign) = named.iter().position(|group| !own.contains(group)) else {
        return Ok(());
    };
    let field = match foreign.checked_sub(1) {
        None => "default_rule_group_id".to_owned(),
        Some(place) => format!("rule_group_ids[{place}]"),
    };
    Err(unknown_group(field))
}

/// Refuses providers that no worker is configured with.
pub(crate) async fn require_providers(
    conn: &mut PgConnection,
    settings: &Settings,
) -> Result<(), Refused> {
    let Some(named) = &settings.providers else {
        return Ok(());
    };
    if !(1..=MOST_PROVIDERS).contains(&named.len()) {
        let message = format!("must have 1 to {MOST_PROVIDERS}");
        return Err(Refused::field("providers", message));
    }
    let known: Vec<String> = provider::list(conn)
        .await?
        .into_iter()
        .map(|provider| provider.name)
        .collect();
    for (place, name) in named.iter().enumerate() {
        let message = if !known.contains(name) {
            format!("is no configured provider; there are: {}", known.join(", "))
        } else if named[..place].contains(name) {
            "is named twice".to_owned()
        } else {
            continue;
        };
        return Err(Refused::field(format!("providers[{place}]"), message));
    }
    Ok(())
}

pub(super) fn unknown_group(field: impl Into<String>) -> Refused {
    let message = "is no rule group of the site's team";
    Refused::field_of(FieldFault::UnknownRuleGroup, field, message)
}
