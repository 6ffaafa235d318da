//! Plans: `gatehouse admin create-plan` and `change-plan`.

use std::str::FromStr;

use anyhow::Context as _;
use clap::Args;
use domain::{
    audit::Action,
    id::PlanId,
    name::Name,
    plan::{
        EndpointsPerSite, Limit, Limits, ListsPerTeam, PerMinute, PerPeriod, PerTeam, TeamPerMinute,
    },
};
use serde_json::{Map, Value, json};
use sqlx::PgConnection;
use store::plan::{self, Terms};

use crate::{audit, config::id};

/// Options of `gatehouse admin create-plan`.
#[derive(Debug, Args)]
pub(super) struct NewPlan {
    #[arg(long)]
    name: Name,
    #[command(flatten)]
    allowed: Allowed,
}

/// Options of `gatehouse admin change-plan`.
#[derive(Debug, Args)]
pub(super) struct PlanChange {
    #[arg(long, value_parser = id::<PlanId>)]
    plan: PlanId,
    /// Another name
    #[arg(long)]
    name: Option<Name>,
    #[command(flatten)]
    allowed: Allowed,
}

/// What a plan allows. An option that is not given leaves the default, or what there was.
#[derive(Clone, Copy, Debug, Args)]
struct Allowed {
    /// Submissions of a team in a billing period, or `none` for no limit [default: none]
    #[arg(long, value_name = "NUMBER")]
    submissions_per_period: Option<OrNone<PerPeriod>>,
    /// Webhooks that a team's submissions cause in a billing period, or `none` for no limit [default: none]
    #[arg(long, value_name = "NUMBER")]
    deliveries_per_period: Option<OrNone<PerPeriod>>,
    /// Submissions of each site key in a UTC minute [default: 1000]
    #[arg(long, value_name = "NUMBER")]
    submissions_per_minute: Option<PerMinute>,
    /// Status queries of each site key in a UTC minute [default: 2000]
    #[arg(long, value_name = "NUMBER")]
    status_queries_per_minute: Option<PerMinute>,
    /// Submissions of all site keys of a team together in a UTC minute, or `none` for ten times those of a key
    /// [default: none]
    #[arg(long, value_name = "NUMBER")]
    team_submissions_per_minute: Option<OrNone<TeamPerMinute>>,
    /// Status queries of all site keys of a team together in a UTC minute, or `none` for ten times those of a key
    /// [default: none]
    #[arg(long, value_name = "NUMBER")]
    team_status_queries_per_minute: Option<OrNone<TeamPerMinute>>,
    /// Webhook endpoints of a site [default: 10]
    #[arg(long, value_name = "NUMBER")]
    endpoints_per_site: Option<EndpointsPerSite>,
    /// Sites of a team [default: 100]
    #[arg(long, value_name = "NUMBER")]
    sites_per_team: Option<PerTeam>,
    /// Site keys of a team that are not disabled [default: 200]
    #[arg(long, value_name = "NUMBER")]
    site_keys_per_team: Option<PerTeam>,
    /// Management tokens of a team that are neither disabled nor expired [default: 100]
    #[arg(long, value_name = "NUMBER")]
    management_tokens_per_team: Option<PerTeam>,
    /// Rule groups of a team [default: 200]
    #[arg(long, value_name = "NUMBER")]
    rule_groups_per_team: Option<PerTeam>,
    /// Hash lists of a team [default: 100]
    #[arg(long, value_name = "NUMBER")]
    hash_lists_per_team: Option<ListsPerTeam>,
}

/// A number, or `none`.
#[derive(Clone, Copy, Debug)]
struct OrNone<T>(Option<T>);

impl<T: FromStr> FromStr for OrNone<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        match text {
            "none" => Ok(Self(None)),
            number => number.parse().map(|number| Self(Some(number))),
        }
    }
}

impl Allowed {
    fn applied_to(self, terms: Terms) -> Terms {
        let limits = terms.limits;
        Terms {
            name: terms.name,
            submissions_per_period: or(self.submissions_per_period, terms.submissions_per_period),
            deliveries_per_period: or(self.deliveries_per_period, terms.deliveries_per_period),
            submissions_per_minute: self
                .submissions_per_minute
                .unwrap_or(terms.submissions_per_minute),
            status_queries_per_minute: self
                .status_queries_per_minute
                .unwrap_or(terms.status_queries_per_minute),
            team_submissions_per_minute: or(
                self.team_submissions_per_minute,
                terms.team_submissions_per_minute,
            ),
            team_status_queries_per_minute: or(
                self.team_status_queries_per_minute,
                terms.team_status_queries_per_minute,
            ),
            limits: Limits {
                endpoints_per_site: self.endpoints_per_site.unwrap_or(limits.endpoints_per_site),
                sites_per_team: self.sites_per_team.unwrap_or(limits.sites_per_team),
                site_keys_per_team: self.site_keys_per_team.unwrap_or(limits.site_keys_per_team),
                management_tokens_per_team: self
                    .management_tokens_per_team
                    .unwrap_or(limits.management_tokens_per_team),
                rule_groups_per_team: self
                    .rule_groups_per_team
                    .unwrap_or(limits.rule_groups_per_team),
                hash_lists_per_team: self
                    .hash_lists_per_team
                    .unwrap_or(limits.hash_lists_per_team),
            },
        }
    }
}

fn or<T>(given: Option<OrNone<T>>, otherwise: Option<T>) -> Option<T> {
    given.map_or(otherwise, |given| given.0)
}

pub(super) async fn create(conn: &mut PgConnection, new: NewPlan) -> anyhow::Result<Value> {
    let terms = new.allowed.applied_to(Terms::named(new.name));
    let plan = plan::create(conn, terms).await?;
    let details = Value::Object(members(&plan.terms));
    audit::record(conn, Action::PlanCreate, None, plan.id.as_uuid(), details).await?;
    Ok(json!({ "plan_id": plan.id }))
}

pub(super) async fn change(conn: &mut PgConnection, change: PlanChange) -> anyhow::Result<Value> {
    let id = change.plan;
    let before = plan::lock(conn, id).await?;
    let before = before
        .with_context(|| format!("there is no plan {id}"))?
        .terms;
    let mut after = change.allowed.applied_to(before.clone());
    if let Some(name) = change.name {
        after.name = name;
    }
    let mut changed = Map::new();
    for ((member, from), to) in members(&before)
        .into_iter()
        .zip(members(&after).into_values())
    {
        if from != to {
            changed.insert(member, json!({ "from": from, "to": to }));
        }
    }
    if !changed.is_empty() {
        plan::change(conn, id, &after).await?;
        let details = json!({ "changed": changed });
        audit::record(conn, Action::PlanUpdate, None, id.as_uuid(), details).await?;
    }
    let mut made = members(&after);
    made.insert("plan_id".to_owned(), json!(id));
    Ok(Value::Object(made))
}

/// The terms as the management interface names them.
fn members(terms: &Terms) -> Map<String, Value> {
    let Terms {
        name,
        submissions_per_period,
        deliveries_per_period,
        submissions_per_minute,
        status_queries_per_minute,
        team_submissions_per_minute,
        team_status_queries_per_minute,
        limits,
    } = terms;
    let members = [
        ("name", json!(name)),
        ("submissions_per_period", json!(submissions_per_period)),
        ("deliveries_per_period", json!(deliveries_per_period)),
        ("submissions_per_minute", json!(submissions_per_minute)),
        (
            "status_queries_per_minute",
            json!(status_queries_per_minute),
        ),
        (
            "team_submissions_per_minute",
            json!(team_submissions_per_minute),
        ),
        (
            "team_status_queries_per_minute",
            json!(team_status_queries_per_minute),
        ),
    ];
    let limits = Limit::ALL
        .iter()
        .map(|limit| (limit.as_str(), json!(limits.of(*limit))));
    let members = members.into_iter().chain(limits);
    members
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
