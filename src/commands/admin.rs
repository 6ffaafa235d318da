//! `gatehouse admin`: a first set-up from the command line, by whoever may open the database.

mod master_key;
mod operator;
mod plan;
mod site;

use std::{io::Write as _, path::PathBuf};

use clap::{Args, Subcommand};
use domain::{
    event::EventKind,
    id::{PlanId, RuleGroupId, SiteId, TeamId},
    name::Name,
    plan::SubscriptionState,
    webhook::EndpointUrl,
};
use serde_json::Value;
use sqlx::{Connection as _, PgConnection};

use crate::{
    config::{AnyDatabaseOptions, EgressOptions, Located, id, one_of},
    service,
};

/// Options of `gatehouse admin`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    database: AnyDatabaseOptions,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    #[command(flatten)]
    SetUp(Box<SetUp>),
    /// Seal every secret with the first of the master keys, so that the others are needed no more; interrupted, it goes on
    /// when it is run again
    RotateMasterKey,
}

/// What is done in one transaction, with its row in the audit log.
#[derive(Debug, Subcommand)]
enum SetUp {
    /// Make a plan
    CreatePlan(plan::NewPlan),
    /// Change what a plan allows; what teams have beyond a lowered limit stays
    ChangePlan(plan::PlanChange),
    /// Make a team, subscribed to a plan from now on
    CreateTeam {
        #[arg(long)]
        name: Name,
        /// Its plan; without, the one that the database comes with, which limits no billing period
        #[arg(long, value_parser = id::<PlanId>)]
        plan: Option<PlanId>,
    },
    /// Change a team's subscription
    Subscribe {
        #[arg(long, value_parser = id::<TeamId>)]
        team: TeamId,
        #[arg(long, value_parser = id::<PlanId>)]
        plan: PlanId,
        #[arg(long, default_value_t = SubscriptionState::Active,
              value_parser = one_of(SubscriptionState::ALL.iter().copied(), SubscriptionState::as_str))]
        state: SubscriptionState,
    },
    /// Make a token for the management interface; it is shown once
    CreateToken {
        #[arg(long)]
        name: Name,
        /// The team in which it acts; without, it is an operator's and acts in all
        #[arg(long, value_parser = id::<TeamId>)]
        team: Option<TeamId>,
        /// What it may do, separated by commas, or `all`
        #[arg(long, required = true, value_delimiter = ',', value_parser = operator::scopes())]
        scopes: Vec<operator::Scopes>,
    },
    /// Make a site with a default rule group and a webhook secret, which is shown once
    CreateSite {
        #[arg(long, value_parser = id::<TeamId>)]
        team: TeamId,
        #[arg(long)]
        name: Name,
        /// A YAML file with the site's default group; without, the demo's rules
        #[arg(long)]
        rules: Option<PathBuf>,
    },
    /// Make a key for a site; it is shown once
    CreateKey {
        #[arg(long, value_parser = id::<SiteId>)]
        site: SiteId,
    },
    /// Replace a site's keys by a new one; the old ones stop working at once
    RotateKey {
        #[arg(long, value_parser = id::<SiteId>)]
        site: SiteId,
    },
    /// Add a webhook endpoint to a site
    CreateEndpoint {
        #[arg(long, value_parser = id::<SiteId>)]
        site: SiteId,
        #[arg(long)]
        url: EndpointUrl,
        /// Which events it gets; all by default
        #[arg(long, value_delimiter = ',', value_parser = one_of(EventKind::ALL.iter().copied(), EventKind::as_str))]
        events: Vec<EventKind>,
        #[command(flatten)]
        egress: EgressOptions,
    },
    /// Load a rule group from a YAML file: a new group, or a new live version of one
    LoadRules {
        #[arg(long, value_parser = id::<TeamId>)]
        team: TeamId,
        /// The group that gets a new version; without, the file makes a new group
        #[arg(long, value_parser = id::<RuleGroupId>)]
        publish_to: Option<RuleGroupId>,
        file: PathBuf,
    },
}

/// Does it and prints what was made.
pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let located = options.database.locate()?;
    let mut conn = service::connect(&located.database, "gatehouse admin").await?;
    let made = match options.action {
        Action::RotateMasterKey => master_key::rotate(&mut conn, &located.master_key()?).await?,
        Action::SetUp(action) => {
            let mut tx = conn.begin().await?;
            let made = set_up(&mut tx, *action, &located).await?;
            tx.commit().await?;
            made
        }
    };
    print(&made, options.json)
}

async fn set_up(
    conn: &mut PgConnection,
    action: SetUp,
    located: &Located,
) -> anyhow::Result<Value> {
    match action {
        SetUp::CreatePlan(new) => plan::create(conn, new).await,
        SetUp::ChangePlan(change) => plan::change(conn, change).await,
        SetUp::CreateTeam { name, plan } => operator::create_team(conn, &name, plan).await,
        SetUp::Subscribe { team, plan, state } => {
            operator::subscribe(conn, team, plan, state).await
        }
        SetUp::CreateToken { name, team, scopes } => {
            operator::create_token(conn, &name, team, &scopes).await
        }
        SetUp::CreateSite { team, name, rules } => {
            site::create(conn, &located.master_key()?, team, &name, rules).await
        }
        SetUp::CreateKey { site } => site::create_key(conn, site).await,
        SetUp::RotateKey { site } => site::rotate_key(conn, site).await,
        SetUp::CreateEndpoint {
            site,
            url,
            events,
            egress,
        } => {
            let policy = egress.policy(located.demo_exemption()?);
            site::create_endpoint(conn, &policy, site, &url, events).await
        }
        SetUp::LoadRules {
            team,
            publish_to,
            file,
        } => site::load_rules(conn, team, publish_to, file).await,
    }
}

fn print(made: &Value, as_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    if as_json {
        writeln!(out, "{made}")?;
        return Ok(());
    }
    for (name, value) in made.as_object().into_iter().flatten() {
        match value.as_str() {
            Some(text) => writeln!(out, "{name:<18}{text}")?,
            None => writeln!(out, "{name:<18}{value}")?,
        }
    }
    Ok(())
}
