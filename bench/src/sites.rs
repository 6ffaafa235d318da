//! Teams and sites to submit for, made through `gatehouse admin` as an operator makes them: each site with a key, a
//! webhook endpoint and the demo's rules.

use std::{fs, path::Path};

use anyhow::Context as _;
use serde_json::Value;

use crate::{processes::Gatehouse, receiver::Receiver};

const RULES: &str = include_str!("../../src/rule_file/demo.yaml");
/// Each team is a lane of the queue.
const SITES_PER_TEAM: usize = 2;

/// A site that can be submitted for.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) key: String,
}

/// Makes `count` sites. Their webhooks go to the receiver, which knows them by their place in the answer.
pub(crate) async fn set_up(
    gatehouse: &Gatehouse,
    receiver: &Receiver,
    count: usize,
    scratch: &Path,
) -> anyhow::Result<Vec<Site>> {
    let rules = scratch.join("rules.yaml");
    fs::write(&rules, RULES)?;
    let rules = rules.display().to_string();
    let mut sites = Vec::new();
    let mut team = String::new();
    for number in 0..count {
        if number % SITES_PER_TEAM == 0 {
            let name = format!("Team {}", number / SITES_PER_TEAM);
            team = text(
                &gatehouse.admin(&["create-team", "--name", &name]).await?,
                "team_id",
            )?;
        }
        let name = format!("Site {number}");
        let site = gatehouse
            .admin(&["create-site", "--team", &team, "--name", &name])
            .await?;
        let id = text(&site, "site_id")?;
        let group = text(&site, "rule_group_id")?;
        let secret = text(&site, "webhook_secret")?.parse()?;
        gatehouse
            .admin(&[
                "load-rules",
                "--team",
                &team,
                "--publish-to",
                &group,
                &rules,
            ])
            .await?;
        let url = receiver.url_for(secret);
        gatehouse
            .admin(&["create-endpoint", "--site", &id, "--url", &url])
            .await?;
        let key = gatehouse.admin(&["create-key", "--site", &id]).await?;
        sites.push(Site {
            key: text(&key, "site_key")?,
        });
    }
    Ok(sites)
}

fn text(answer: &Value, member: &str) -> anyhow::Result<String> {
    let value = answer.get(member).and_then(Value::as_str);
    Ok(value
        .with_context(|| format!("an admin command told no {member}: {answer}"))?
        .to_owned())
}
