//! `gatehouse admin`: a first set-up from the command line, by whoever may open the database.

mod master_key;
mod operator;
mod person;
mod plan;
mod site;

use std::{io::Write as _, path::PathBuf};

use clap::{Args, Subcommand};
use domain::{
    email::Email,
    event::EventKind,
    id::{PlanId, RuleGroupId, SiteId, TeamId},
    name::Name,
    plan::SubscriptionState,
    webhook::EndpointUrl,
};
use management::Management;
use queue::Queue;
use serde_json::Value;

use super::face::{self, Means, told};
use crate::{
    config::{
        AnyDatabaseOptions, EgressOptions, Located, RuleOptions, StoredRulesOptions, id, one_of,
    },
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

/// What a use case does, with its rows in the audit log.
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
    /// Invite a person into a team, or as an operator; the link is shown once
    CreateUser(person::NewUser),
    /// Make a link with which a person sets a new password; it is shown once, and the second factor stays
    ResetPassword {
        /// The person's e-mail address
        #[arg(long)]
        email: Email,
    },
    /// Remove a person's second factor and recovery codes, and end all sessions; only for a person who has lost the app and all
    /// codes, because the password alone opens the account until the person sets up another factor
    RemoveFactor {
        /// The person's e-mail address
        #[arg(long)]
        email: Email,
    },
    /// List people: of a team, or all
    ListUsers {
        /// Only the people of this team
        #[arg(long, value_parser = id::<TeamId>)]
        team: Option<TeamId>,
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
        #[command(flatten)]
        bounds: Bounds,
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
        #[command(flatten)]
        bounds: Bounds,
    },
}

/// How much may be stored as rules: the same bounds as the interface's.
#[derive(Clone, Copy, Debug, Args)]
struct Bounds {
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    stored: StoredRulesOptions,
}

/// Does it and prints what was made.
pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    const NAME: &str = "gatehouse admin";
    let located = options.database.locate()?;
    let made = match options.action {
        Action::RotateMasterKey => {
            let mut conn = service::connect(&located.database, NAME).await?;
            master_key::rotate(&mut conn, &located.master_key()?).await?
        }
        Action::SetUp(action) => {
            let pool = service::open_current(&located.database, NAME).await?;
            let means = means(&action, &located)?;
            if let Some(key) = &means.master_key {
                service::check_master_key(&mut *pool.acquire().await?, key).await?;
            }
            let queue = Queue::open_to_notify(pool.clone());
            let management = face::management(&pool, queue, means);
            set_up(&management, *action).await?
        }
    };
    print(&made, options.json)
}

/// What an action needs.
fn means(action: &SetUp, located: &Located) -> anyhow::Result<Means> {
    let none = Means::default();
    Ok(match action {
        SetUp::CreateSite { bounds, .. } => Means {
            master_key: Some(located.master_key()?),
            rules: bounds.rules.limits(),
            rules_per_day: bounds.stored.per_day(),
            ..none
        },
        SetUp::LoadRules { bounds, .. } => Means {
            rules: bounds.rules.limits(),
            rules_per_day: bounds.stored.per_day(),
            ..none
        },
        SetUp::CreateEndpoint { egress, .. } => Means {
            egress: egress.policy(located.demo_exemption()?),
            ..none
        },
        SetUp::CreatePlan(_)
        | SetUp::ChangePlan(_)
        | SetUp::CreateTeam { .. }
        | SetUp::Subscribe { .. }
        | SetUp::CreateToken { .. }
        | SetUp::CreateUser(_)
        | SetUp::ResetPassword { .. }
        | SetUp::RemoveFactor { .. }
        | SetUp::ListUsers { .. }
        | SetUp::CreateKey { .. }
        | SetUp::RotateKey { .. } => none,
    })
}

async fn set_up(management: &Management, action: SetUp) -> anyhow::Result<Value> {
    let made = match action {
        SetUp::CreatePlan(new) => plan::create(management, new).await,
        SetUp::ChangePlan(change) => return plan::change(management, change).await,
        SetUp::CreateTeam { name, plan } => operator::create_team(management, &name, plan).await,
        SetUp::Subscribe { team, plan, state } => {
            operator::subscribe(management, team, plan, state).await
        }
        SetUp::CreateUser(new) => person::invite(management, new).await,
        SetUp::ResetPassword { email } => person::reset(management, &email).await,
        SetUp::RemoveFactor { email } => person::remove_factor(management, &email).await,
        SetUp::ListUsers { team } => person::list(management, team).await,
        SetUp::CreateToken { name, team, scopes } => {
            operator::create_token(management, name, team, &scopes).await
        }
        SetUp::CreateSite {
            team, name, rules, ..
        } => return site::create(management, team, name, rules).await,
        SetUp::CreateKey { site } => site::create_key(management, site).await,
        SetUp::RotateKey { site } => site::rotate_key(management, site).await,
        SetUp::CreateEndpoint {
            site, url, events, ..
        } => site::create_endpoint(management, site, url, events).await,
        SetUp::LoadRules {
            team,
            publish_to,
            file,
            ..
        } => return site::load_rules(management, team, publish_to, file).await,
    };
    made.map_err(told)
}

fn print(made: &Value, as_json: bool) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    if as_json {
        writeln!(out, "{made}")?;
        return Ok(());
    }
    for (name, value) in made.as_object().into_iter().flatten() {
        match value {
            Value::String(text) => writeln!(out, "{name:<18}{text}")?,
            Value::Array(rows) => {
                for row in rows {
                    writeln!(out, "{row}")?;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                writeln!(out, "{name:<18}{value}")?;
            }
        }
    }
    Ok(())
}
