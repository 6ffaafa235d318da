//! Plans: `gatehouse admin create-plan` and `change-plan`.

use std::{str::FromStr, sync::Arc};

use clap::Args;
use domain::{
    id::PlanId,
    name::Name,
    plan::{
        EndpointsPerSite, Limits, ListsPerTeam, PerMinute, PerPeriod, PerTeam, TeamPerMinute, Terms,
    },
};
use management::{Caller, Management, Refused, plans};
use serde_json::{Value, json};

use crate::{command_line::told, config::id};

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
    /// The new name
    #[arg(long)]
    name: Option<Name>,
    #[command(flatten)]
    allowed: Allowed,
}

/// What a plan allows. A new plan has the default for each omitted option, and a changed plan keeps
/// its value.
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
    /// Site keys of a team, without disabled keys [default: 200]
    #[arg(long, value_name = "NUMBER")]
    site_keys_per_team: Option<PerTeam>,
    /// Management tokens of a team, without disabled and expired tokens [default: 100]
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

pub(super) async fn create(management: &Arc<Management>, new: NewPlan) -> Result<Value, Refused> {
    let terms = new.allowed.applied_to(Terms::named(new.name));
    let plan = plans::create(&Caller::command_line(management), terms).await?;
    Ok(json!({ "plan_id": plan.id }))
}

/// Prints the terms as the management interface names them.
pub(super) async fn change(
    management: &Arc<Management>,
    change: PlanChange,
) -> anyhow::Result<Value> {
    let edit = |before: Terms| {
        let name = change.name.unwrap_or_else(|| before.name.clone());
        Terms {
            name,
            ..change.allowed.applied_to(before)
        }
    };
    let plan = plans::update(&Caller::command_line(management), change.plan, edit).await;
    let plan = plan.map_err(told)?;
    let mut made = serde_json::to_value(plan.terms)?;
    made["plan_id"] = json!(plan.id);
    Ok(made)
}
