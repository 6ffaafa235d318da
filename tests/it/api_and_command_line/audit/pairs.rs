//! Changes that both faces can make.

use reqwest::Method;
use serde_json::{Value, json};

/// The same change through both faces.
pub(super) struct Pair {
    pub(super) what: &'static str,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: Value,
    /// The arguments of `gatehouse admin`, separated by spaces.
    pub(super) command: String,
}

impl Pair {
    fn post(what: &'static str, path: impl Into<String>, body: Value, command: String) -> Self {
        Self {
            what,
            method: Method::POST,
            path: path.into(),
            body,
            command,
        }
    }

    fn with(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// The statement that takes the change back, if it cannot be made twice.
    pub(super) fn undo(&self) -> Option<&'static str> {
        match self.what {
            "a change of a plan" => Some("update plans set sites_per_team = 100"),
            "a subscription" => Some(
                "update subscriptions set plan_id = '01990000-0000-7000-8000-000000000001', state = 'active', past_due_since = null",
            ),
            _ => None,
        }
    }
}

pub(super) fn about_teams(plan: &str, team: &str) -> [Pair; 5] {
    [
        Pair::post(
            "a plan",
            "/plans",
            json!({ "name": "a", "submissions_per_minute": 7 }),
            "create-plan --name b --submissions-per-minute 7".into(),
        ),
        Pair::post(
            "a change of a plan",
            format!("/plans/{plan}"),
            json!({ "sites_per_team": 7 }),
            format!("change-plan --plan {plan} --sites-per-team 7"),
        )
        .with(Method::PATCH),
        Pair::post(
            "a team",
            "/teams",
            json!({ "name": "a", "plan_id": plan }),
            format!("create-team --name b --plan {plan}"),
        ),
        Pair::post(
            "a subscription",
            format!("/teams/{team}/subscription"),
            json!({ "plan_id": plan, "state": "past_due" }),
            format!("subscribe --team {team} --plan {plan} --state past_due"),
        )
        .with(Method::PUT),
        Pair::post(
            "a token",
            "/tokens",
            json!({ "name": "a", "team_id": team, "scopes": ["usage:read", "teams:read"] }),
            format!("create-token --name b --team {team} --scopes usage:read,teams:read"),
        ),
    ]
}

pub(super) fn about_sites(team: &str, site: &str, group: &str) -> [Pair; 4] {
    [
        Pair::post(
            "a key",
            format!("/sites/{site}/keys"),
            Value::Null,
            format!("create-key --site {site}"),
        ),
        Pair::post(
            "a rotation",
            format!("/sites/{site}/keys/rotate"),
            Value::Null,
            format!("rotate-key --site {site}"),
        ),
        Pair::post(
            "an endpoint",
            format!("/sites/{site}/webhook-endpoints"),
            json!({ "url": "https://example.com/a" }),
            format!("create-endpoint --site {site} --url https://example.com/b"),
        ),
        Pair::post(
            "a site",
            "/sites",
            json!({ "name": "a", "team_id": team, "default_rule_group_id": group }),
            format!("create-site --team {team} --name b"),
        ),
    ]
}

pub(super) fn about_rules(
    team: &str,
    group: &str,
    rule: &Value,
    draft: &Value,
    file: &str,
) -> [Pair; 2] {
    [
        Pair::post(
            "a rule group",
            "/rule-groups",
            json!({ "name": "a", "team_id": team, "rules": [rule] }),
            format!("load-rules --team {team} {file}"),
        ),
        Pair::post(
            "a version",
            format!("/rule-groups/{group}/versions"),
            json!({ "revision": draft["revision"] }),
            format!("load-rules --team {team} --publish-to {group} {file}"),
        ),
    ]
}
