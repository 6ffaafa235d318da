//! Policies of the review desk: what moderators reject items for.

pub(crate) mod desk;
pub(crate) mod policy;
mod values;

use std::sync::Arc;

use askama::Template;
use management::review_policies::{self, ReviewPolicy};

use crate::{
    page::{self, At, Frame},
    router::Answer,
    visit::Visit,
};

#[derive(Template)]
#[template(path = "policies.html")]
struct List {
    frame: Frame,
    team: At,
    policies: Vec<ReviewPolicy>,
}

pub(crate) async fn list(visit: Arc<Visit>) -> Answer {
    let team = visit.team()?;
    let caller = visit.caller(Some(team))?;
    let team = At::Team(team);
    Ok(page::shown(&List {
        policies: review_policies::of_team(&visit.management, &caller).await?,
        frame: Frame::of(&visit, team, "policies").await?,
        team,
    }))
}

impl List {
    /// For what a policy is suggested, in a few words.
    fn suggested(policy: &ReviewPolicy) -> String {
        let settings = &policy.settings;
        let categories = settings.categories.iter().map(ToString::to_string);
        let rules = settings.rules.iter().map(|rule| format!("“{rule}”"));
        categories.chain(rules).collect::<Vec<_>>().join(", ")
    }
}
