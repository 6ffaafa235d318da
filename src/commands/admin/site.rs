//! What `gatehouse admin` makes of rule files: sites and rule groups.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::ensure;
use domain::{
    id::{RuleGroupId, TeamId},
    name::Name,
};
use management::{
    Caller, Management,
    provisioning::{self, NewSite},
    rule_groups::{self, NewRuleGroup, versions},
};
use serde_json::{Value, json};

use crate::{
    command_line::{told, told_of_rules},
    rule_file,
};

pub(super) async fn create(
    management: &Arc<Management>,
    team: TeamId,
    name: Name,
    rules: Option<PathBuf>,
) -> anyhow::Result<Value> {
    let rules = match rules {
        Some(file) => rule_file::read(&file)?,
        None => rule_file::demo(),
    };
    let names = rules.rules.names();
    let new = NewSite {
        group: default_group_of(&name),
        name,
        rules: rules.rules,
    };
    let made = provisioning::site(&Caller::command_line(management), team, new).await;
    let (issued, group) = made.map_err(|refused| told_of_rules(refused, &names))?;
    Ok(json!({
        "site_id": issued.site.id,
        "rule_group_id": group.id,
        "webhook_secret": issued.webhook_secret,
    }))
}

/// The name of a site's default group: as much of the site's name as fits.
fn default_group_of(site: &Name) -> Name {
    let name = format!("Default of {site}");
    let name: String = name.chars().take(Name::LONGEST).collect();
    name.trim_end().parse().unwrap_or_else(|_| site.clone())
}

pub(super) async fn load_rules(
    management: &Arc<Management>,
    team: TeamId,
    publish_to: Option<RuleGroupId>,
    file: &Path,
) -> anyhow::Result<Value> {
    let caller = Caller::command_line(management);
    let file = rule_file::read(file)?;
    let names = file.rules.names();
    let Some(group) = publish_to else {
        let new = NewRuleGroup {
            name: file.name,
            team: Some(team),
            rules: file.rules,
            note: None,
        };
        let created = rule_groups::create(&caller, new).await;
        let created = created.map_err(|refused| told_of_rules(refused, &names))?;
        return Ok(json!({ "rule_group_id": created.group.id }));
    };
    let found = rule_groups::get(&caller, group).await;
    let found = found.map_err(told)?;
    ensure!(found.team == team, "team {team} has no rule group {group}");
    let version = versions::publish(&caller, group, file.rules).await;
    let version = version.map_err(|refused| told_of_rules(refused, &names))?;
    Ok(json!({ "rule_group_id": group, "version_id": version.id }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_group_of_a_site_with_a_long_name_has_a_shorter_one() {
        let group = |site: &str| default_group_of(&site.parse().unwrap()).to_string();
        assert_eq!(group("Comments"), "Default of Comments");
        let long = group(&"é".repeat(Name::LONGEST));
        assert_eq!(long.chars().count(), Name::LONGEST);
        // Cut at a space, if possible.
        let spaced = format!("{} b", "a".repeat(Name::LONGEST - "Default of ".len() - 1));
        assert_eq!(group(&spaced).len(), Name::LONGEST - 1);
    }
}
