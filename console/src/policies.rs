//! Policies of the review desk: what moderators reject items for.

mod form_values;
pub(crate) mod policy;
pub(crate) mod site_desk;

use std::sync::Arc;

use askama::Template;
use management::review_policies::{self, ReviewPolicy};

use crate::{
    page::{self, Area, Frame},
    request::PageRequest,
    router::Answer,
};

#[derive(Template)]
#[template(path = "policies.html")]
struct List {
    frame: Frame,
    team: Area,
    policies: Vec<ReviewPolicy>,
}

pub(crate) async fn list(request: Arc<PageRequest>) -> Answer {
    let team = request.team()?;
    let caller = request.caller(Some(team))?;
    let team = Area::Team(team);
    Ok(page::shown(&List {
        policies: review_policies::of_team(&request.management, &caller).await?,
        frame: Frame::of(&request, team, "policies").await?,
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
