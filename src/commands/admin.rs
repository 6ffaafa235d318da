//! `gatehouse admin`: sets up Gatehouse from the command line, for anyone with access to the
//! database.

mod maintenance;
mod person;
mod plan;
mod site;

use std::{fmt::Write as _, path::PathBuf, sync::Arc};

use clap::{Args, Subcommand, builder::TypedValueParser};
use domain::{
    email::Email,
    event::EventKind,
    id::{PlanId, RuleGroupId, SiteId, TeamId},
    name::Name,
    plan::SubscriptionState,
    scope::Scope,
    webhook::EndpointUrl,
};
use management::{
    Caller, Management,
    endpoints::{self, NewEndpoint},
    site_keys::{self, IssuedKey},
    subscriptions, teams,
    tokens::{self, NewToken},
};
use queue::Queue;
use serde_json::{Value, json};
use store::subscription::Wanted;

use crate::{
    command_line::{self, Means, told},
    config::{
        AnyDatabaseOptions, EgressOptions, Located, RuleOptions, StoredRulesOptions, id, one_of,
    },
    service, terminal,
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
    /// Seal every secret with the first master key, so that the other keys are no longer needed. If
    /// it is interrupted, run it again to continue
    RotateMasterKey,
    /// Remove the team that `gatehouse up --demo-data` created, with everything that belongs to it. The audit log stays. If it is
    /// interrupted, run it again to continue
    RemoveExampleData,
    /// Remove now what is older than the settings of its site allow: files of images, events, items and their contents. API
    /// processes do this every 10 minutes
    RemoveExpired,
}

/// The actions that call a use case. They are recorded in the audit log.
#[derive(Debug, Subcommand)]
enum SetUp {
    /// Create a plan
    CreatePlan(plan::NewPlan),
    /// Change what a plan allows. Teams keep what they have beyond a lowered limit
    ChangePlan(plan::PlanChange),
    /// Create a team that subscribes to a plan at once
    CreateTeam {
        #[arg(long)]
        name: Name,
        /// The plan of the team [default: the plan of a new database, which has no limits for a
        /// billing period]
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
    /// Create a token for the management interface. It is shown only once
    CreateToken {
        #[arg(long)]
        name: Name,
        /// The team in which it acts. If omitted, it is an operator's token and acts in all teams
        #[arg(long, value_parser = id::<TeamId>)]
        team: Option<TeamId>,
        /// The scopes of the token, separated by commas, or `all`
        #[arg(long, required = true, value_delimiter = ',', value_parser = scopes())]
        scopes: Vec<Scopes>,
    },
    /// Invite a person into a team, or as an operator; the link is shown once
    CreateUser(person::NewUser),
    /// Make a link with which a person sets a new password; it is shown once. Using it ends everything else that can sign in to
    /// the account, but the second factor stays
    ResetPassword(person::Reset),
    /// Remove a person's second factor, and end everything else that can sign in beside the password; only for a person who has
    /// lost the app and all codes, because the password alone opens the account until the person sets up another factor
    RemoveFactor {
        /// The person's e-mail address
        #[arg(long)]
        email: Email,
    },
    /// End everything that can sign in to an account, also its password and its second factor, and make a link with which the
    /// owner of the address sets a new password; for an account that somebody else had before
    HandOver(person::Reset),
    /// List people: of a team, or all
    ListUsers {
        /// Only the people of this team
        #[arg(long, value_parser = id::<TeamId>)]
        team: Option<TeamId>,
    },
    /// Create a site with a default rule group and a webhook secret. The secret is shown only once
    CreateSite {
        #[arg(long, value_parser = id::<TeamId>)]
        team: TeamId,
        #[arg(long)]
        name: Name,
        /// A YAML file with the site's default rule group [default: the rules of the demo]
        #[arg(long)]
        rules: Option<PathBuf>,
        #[command(flatten)]
        bounds: Bounds,
    },
    /// Create a key for a site. It is shown only once
    CreateKey {
        #[arg(long, value_parser = id::<SiteId>)]
        site: SiteId,
    },
    /// Replace a site's keys with a new one. The old keys stop working at once
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
        /// The events that it gets, separated by commas [default: all]
        #[arg(long, value_delimiter = ',', value_parser = one_of(EventKind::ALL.iter().copied(), EventKind::as_str))]
        events: Vec<EventKind>,
        #[command(flatten)]
        egress: EgressOptions,
    },
    /// Load a rule group from a YAML file, as a new group or as a new live version of a group
    LoadRules {
        #[arg(long, value_parser = id::<TeamId>)]
        team: TeamId,
        /// The group that gets a new version. If omitted, the file becomes a new group
        #[arg(long, value_parser = id::<RuleGroupId>)]
        publish_to: Option<RuleGroupId>,
        file: PathBuf,
        #[command(flatten)]
        bounds: Bounds,
    },
}

/// What `--scopes` takes.
#[derive(Clone, Copy, Debug)]
enum Scopes {
    All,
    One(Scope),
}

/// One of the scopes, or all of them.
fn scopes() -> impl TypedValueParser<Value = Scopes> {
    let each = Scope::ALL.iter().copied().map(Scopes::One);
    one_of(
        std::iter::once(Scopes::All).chain(each),
        |scopes| match scopes {
            Scopes::All => "all",
            Scopes::One(scope) => scope.as_str(),
        },
    )
}

/// The limits of rules, as in the management interface.
#[derive(Clone, Copy, Debug, Args)]
struct Bounds {
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    stored: StoredRulesOptions,
}

/// Runs the action and prints the result.
pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    const NAME: &str = "gatehouse admin";
    let located = options.database.locate()?;
    let made = match options.action {
        Action::RotateMasterKey => {
            let mut conn = service::connect(&located.database, NAME).await?;
            maintenance::rotate_master_key(&mut conn, &located.master_key()?).await?
        }
        Action::RemoveExampleData => {
            let pool = service::open_current(&located.database, NAME).await?;
            maintenance::remove_example_data(&database::for_command(&pool)).await?
        }
        Action::RemoveExpired => {
            let pool = service::open_current(&located.database, NAME).await?;
            maintenance::remove_expired(&database::for_command(&pool)).await?
        }
        Action::SetUp(action) => {
            let pool = service::open_current(&located.database, NAME).await?;
            let means = means(&action, &located)?;
            if let Some(key) = &means.master_key {
                service::check_master_key(&mut *pool.acquire().await?, key).await?;
            }
            let queue = Queue::open_to_notify(pool.clone());
            let management = command_line::management(&pool, queue, means);
            set_up(&management, *action).await?
        }
    };
    print(&made, options.json)
}

/// What an action needs to call its use case.
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
        | SetUp::ResetPassword(_)
        | SetUp::RemoveFactor { .. }
        | SetUp::HandOver(_)
        | SetUp::ListUsers { .. }
        | SetUp::CreateKey { .. }
        | SetUp::RotateKey { .. } => none,
    })
}

async fn set_up(management: &Arc<Management>, action: SetUp) -> anyhow::Result<Value> {
    let caller = &Caller::command_line(management);
    Ok(match action {
        SetUp::CreatePlan(new) => plan::create(management, new).await.map_err(told)?,
        SetUp::ChangePlan(change) => plan::change(management, change).await?,
        SetUp::CreateTeam { name, plan } => {
            let team = teams::create(caller, &name, plan).await;
            json!({ "team_id": team.map_err(told)?.id })
        }
        SetUp::Subscribe { team, plan, state } => {
            let wanted = Wanted {
                plan,
                state,
                started_at: None,
            };
            let replaced = subscriptions::replace(caller, team, wanted).await;
            replaced.map_err(told)?;
            json!({ "team_id": team, "plan_id": plan, "state": state })
        }
        SetUp::CreateToken { name, team, scopes } => {
            let wanted = |scope: &Scope| {
                scopes.iter().any(|given| match given {
                    Scopes::All => true,
                    Scopes::One(one) => one == scope,
                })
            };
            let new = NewToken {
                name,
                team,
                scopes: Scope::ALL.iter().copied().filter(wanted).collect(),
                expires_at: None,
            };
            let issued = tokens::create(caller, &new).await;
            let issued = issued.map_err(told)?;
            json!({ "token_id": issued.token.id, "management_token": issued.secret.expose() })
        }
        SetUp::CreateUser(new) => person::invite(management, new).await.map_err(told)?,
        SetUp::ResetPassword(wanted) => person::reset(management, wanted).await.map_err(told)?,
        SetUp::RemoveFactor { email } => {
            let removed = person::remove_factor(management, &email).await;
            removed.map_err(told)?
        }
        SetUp::HandOver(wanted) => person::hand_over(management, wanted).await.map_err(told)?,
        SetUp::ListUsers { team } => person::list(management, team).await.map_err(told)?,
        SetUp::CreateSite {
            team, name, rules, ..
        } => site::create(management, team, name, rules).await?,
        SetUp::CreateKey { site } => {
            let issued = site_keys::create(caller, site).await;
            issued_key(&issued.map_err(told)?)
        }
        SetUp::RotateKey { site } => {
            let issued = site_keys::rotate(caller, site).await;
            issued_key(&issued.map_err(told)?)
        }
        SetUp::CreateEndpoint {
            site, url, events, ..
        } => {
            let new = NewEndpoint {
                events: (!events.is_empty()).then_some(events),
                ..NewEndpoint::at(url)
            };
            let endpoint = endpoints::create(caller, site, new).await;
            let endpoint = endpoint.map_err(told)?;
            json!({ "endpoint_id": endpoint.id, "url": endpoint.settings.url })
        }
        SetUp::LoadRules {
            team,
            publish_to,
            file,
            ..
        } => site::load_rules(management, team, publish_to, &file).await?,
    })
}

fn issued_key(issued: &IssuedKey) -> Value {
    let (key, secret) = (&issued.key, issued.secret.expose());
    json!({ "site_id": key.site, "key_id": key.id, "site_key": secret })
}

fn print(made: &Value, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return terminal::print_json(made);
    }
    Ok(terminal::print(&lines(made))?)
}

/// A line for each member, or for each row of a list.
fn lines(made: &Value) -> String {
    let members = || made.as_object().into_iter().flatten();
    let longest = members().map(|(name, _)| name.len()).max();
    let width = longest.unwrap_or_default() + 2;
    let mut text = String::new();
    for (name, value) in members() {
        // Writing to a string cannot fail.
        let _ = match value {
            Value::String(value) => writeln!(text, "{name:<width$}{value}"),
            Value::Array(rows) => rows.iter().try_for_each(|row| writeln!(text, "{row}")),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                writeln!(text, "{name:<width$}{value}")
            }
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_below_each_other_however_long_the_names_are() {
        let plan = json!({ "name": "free", "submissions_per_period": null });
        assert_eq!(
            lines(&plan),
            "name                    free\nsubmissions_per_period  null\n"
        );
    }
}
