//! Teams and sites to submit for, through the functions that the command line and the interface use: each site with a key,
//! a webhook endpoint and the demo's rules, each team on a plan whose limits are counted and never reached.

use anyhow::Context as _;
use domain::{
    event::EventKind,
    id::TeamId,
    rule_file::InputFile,
    rules::{CompiledGroup, Rule},
};
use sqlx::{Connection as _, PgConnection};
use store::{
    encryption::MasterKey,
    endpoint,
    rule_group::{self, NewVersion},
    site,
};
use uuid::Uuid;

use crate::receiver::Receiver;

/// The rules of every site, as a file.
pub(crate) const RULES: &str = include_str!("../../src/rule_file/demo.yaml");

/// How many there should be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tenants {
    pub(crate) sites: usize,
    /// Each team is a lane of the queue, and has one quota.
    pub(crate) sites_per_team: usize,
}

/// A site that can be submitted for.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) id: Uuid,
    pub(crate) key: String,
}

/// Makes the sites. Their webhooks go to the receiver, which knows them by their place in the
/// answer. Neighbours in the list are of different teams, so that taking turns over the sites is
/// taking turns over the teams.
pub(crate) async fn set_up(
    conn: &mut PgConnection,
    master_key: &MasterKey,
    receiver: &Receiver,
    tenants: Tenants,
) -> anyhow::Result<Vec<Site>> {
    let (rules, compiled) = rules()?;
    let version = NewVersion {
        rules: &rules,
        categories: compiled.categories(),
    };
    let mut tx = conn.begin().await?;
    let plan = create_plan(&mut tx).await?;
    let mut teams = Vec::new();
    for number in 0..tenants.sites.div_ceil(tenants.sites_per_team) {
        teams.push(create_team(&mut tx, &format!("Team {number}"), plan).await?);
    }
    let mut sites = Vec::new();
    for number in 0..tenants.sites {
        let team = teams[number % teams.len()];
        let name = format!("Site {number}");
        let group =
            rule_group::create(&mut tx, team, &format!("Default of {name}"), version).await?;
        let (site, secret) = site::create(&mut tx, master_key, team, &name, group).await?;
        let url = receiver.url_for(secret);
        endpoint::create(&mut tx, site, &url, EventKind::ALL).await?;
        let (_, key) = site::keys::create(&mut tx, site).await?;
        sites.push(Site {
            id: site.as_uuid(),
            key: key.expose().to_owned(),
        });
    }
    tx.commit().await?;
    // As autovacuum does in every real installation.
    sqlx::query(
        "vacuum analyze teams, subscriptions, plans, sites, site_keys, webhook_endpoints, rule_groups,
             rule_group_versions",
    )
    .execute(conn)
    .await
    .context("the sites cannot be described to the planner")?;
    Ok(sites)
}

/// The rules of every site.
pub(crate) fn rules() -> anyhow::Result<(Vec<Rule>, CompiledGroup)> {
    let given = InputFile::from_yaml(RULES)?.rules;
    let rules = given.into_rules(|| Uuid::now_v7().into());
    let rules = rules.map_err(domain::rules::WrongRules::all_errors)?;
    let compiled = CompiledGroup::compile(Uuid::nil().into(), Uuid::nil().into(), &rules)?;
    Ok((rules, compiled))
}

/// Finite quotas, and the highest possible rates and numbers of things.
async fn create_plan(conn: &mut PgConnection) -> anyhow::Result<Uuid> {
    let id = Uuid::now_v7();
    sqlx::query(
        "
        insert into plans
            (
                id, name, submissions_per_period, deliveries_per_period, submissions_per_minute, status_queries_per_minute,
                endpoints_per_site, sites_per_team, site_keys_per_team, management_tokens_per_team, rule_groups_per_team,
                hash_lists_per_team
            )
        values (
            $1, 'Benchmark', 1000000000, 100000000000, 1000000, 1000000, 100, 100000, 100000, 100000, 100000, 1000
        )
        ",
    )
    .bind(id)
    .execute(conn)
    .await?;
    Ok(id)
}

async fn create_team(conn: &mut PgConnection, name: &str, plan: Uuid) -> anyhow::Result<TeamId> {
    let id = Uuid::now_v7();
    sqlx::query(
        "
        with new_team as (
            insert into teams (id, name) values ($1, $2) returning id
        )
        insert into subscriptions (team_id, plan_id) select id, $3 from new_team
        ",
    )
    .bind(id)
    .bind(name)
    .bind(plan)
    .execute(conn)
    .await?;
    Ok(id.into())
}
