//! Teams and sites as an operator makes them, with the commands of a version. The benchmark's own
//! statements are for this version's schema.

use anyhow::Context as _;
use serde_json::Value;

use crate::{
    processes::Gatehouse,
    sites::{RULES, Site, Tenants},
    stack::Stack,
};

/// More than is ever submitted.
const PLENTY: &str = "1000000";

/// Makes the sites in the order of `sites::set_up`.
pub(super) async fn set_up(
    stack: &Stack,
    version: &Gatehouse,
    tenants: Tenants,
) -> anyhow::Result<Vec<Site>> {
    let rules = stack.write("rules.yaml", RULES)?;
    let rules = rules.to_str().context("the scratch directory is no text")?;
    let plan = ["create-plan", "--name", "Benchmark"];
    let limits = [
        "--submissions-per-minute",
        "--status-queries-per-minute",
        "--team-submissions-per-minute",
        "--team-status-queries-per-minute",
    ];
    let limits = limits.into_iter().flat_map(|name| [name, PLENTY]);
    let plan: Vec<&str> = plan.into_iter().chain(limits).collect();
    let plan = text(&version.admin(&plan).await?, "plan_id")?;
    let mut teams = Vec::new();
    for number in 0..tenants.sites.div_ceil(tenants.sites_per_team) {
        let name = format!("Team {number}");
        let team = ["create-team", "--name", &name, "--plan", &plan];
        teams.push(text(&version.admin(&team).await?, "team_id")?);
    }
    let mut sites = Vec::new();
    for number in 0..tenants.sites {
        let team = &teams[number % teams.len()];
        let name = format!("Site {number}");
        let site = [
            "create-site",
            "--team",
            team,
            "--name",
            &name,
            "--rules",
            rules,
        ];
        let site = version.admin(&site).await?;
        let id = text(&site, "site_id")?;
        let url = stack
            .receiver
            .url_for(text(&site, "webhook_secret")?.parse()?);
        version
            .admin(&["create-endpoint", "--site", &id, "--url", &url])
            .await?;
        let key = version.admin(&["create-key", "--site", &id]).await?;
        sites.push(Site {
            id: id.parse()?,
            key: text(&key, "site_key")?,
        });
    }
    Ok(sites)
}

fn text(value: &Value, member: &str) -> anyhow::Result<String> {
    let text = value[member].as_str();
    Ok(text
        .with_context(|| format!("no {member} in {value}"))?
        .to_owned())
}
