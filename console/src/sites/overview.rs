//! A site: what it is, what judges, where its webhooks go, and what it still needs.

use askama::Template;
use chrono::{DateTime, Utc};
use domain::scope::Scope;
use management::{
    endpoints::{self, Endpoint},
    rule_groups::{self, Group, attachments},
    sites::{self, Counts, Readiness},
};

use super::{
    labels,
    page_header::{SiteHeader, Tab},
};
use crate::{
    overview::first_steps::{Step, in_order},
    page::{self, Answer, Frame, PageRequest, pager},
};

/// Endpoints that the page names.
const ENDPOINTS: i64 = 10;

#[derive(Template)]
#[template(path = "sites/overview.html")]
struct Overview {
    frame: Frame,
    here: SiteHeader,
    created: DateTime<Utc>,
    counts: Counts,
    /// What the site still needs; none once it has everything.
    steps: Option<[Step; 4]>,
    groups: Vec<Group>,
    /// The group that judges if none is attached.
    default: Group,
    endpoints: Vec<Endpoint>,
    on_failure: &'static str,
    vocabulary: &'static str,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let (frame, here) = SiteHeader::of(&request, Tab::Overview).await?;
    let caller = request.caller()?;
    let site = here.site.id;
    let counts = sites::counts(&caller, &[site]).await?;
    let counts = counts.first().copied().unwrap_or(Counts {
        site,
        keys: 0,
        endpoints: 0,
    });
    let readiness = sites::readiness(&caller, site).await?;
    let first = pager::first(ENDPOINTS);
    let endpoints = endpoints::list(&caller, site, first).await?;
    let groups = attachments::list(&caller, site).await?;
    let settings = &here.site.settings;
    let default = rule_groups::get(&caller, settings.default_rule_group).await?;
    let judge = groups.first().unwrap_or(&default);
    let works = endpoints.iter().find(|one| one.disabled_at.is_none());
    let steps = steps(&frame, &here, (counts, readiness), judge, works);
    Ok(page::shown(&Overview {
        created: here.site.created_at,
        on_failure: labels::on_failure(settings.on_failure).name,
        vocabulary: labels::vocabulary(settings.status_vocabulary).hint,
        steps: (!steps.iter().all(|step| step.is_done)).then_some(steps),
        frame,
        here,
        counts,
        groups,
        default,
        endpoints,
    }))
}

fn steps(
    frame: &Frame,
    here: &SiteHeader,
    (counts, readiness): (Counts, Readiness),
    judge: &Group,
    endpoint: Option<&Endpoint>,
) -> [Step; 4] {
    let way = |scope, path, action| frame.may(scope).then_some((path, action));
    let hooks = here.team.path("webhooks");
    // Without an endpoint, there is nothing to test.
    let test = endpoint.and_then(|endpoint| {
        way(
            Scope::WebhooksWrite,
            format!("{hooks}/{}", endpoint.id),
            "Test",
        )
    });
    let rules = format!("{}/{}", here.team.path("rules"), judge.id);
    in_order([
        Step::new(
            (
                "Create a key",
                "Your application sends it with each submission.",
            ),
            counts.keys > 0,
            way(Scope::KeysWrite, here.path("keys"), "Keys"),
        ),
        Step::new(
            (
                "Write the first rule",
                "Rules decide what is approved, rejected or reviewed by a person.",
            ),
            readiness.has_rules,
            way(Scope::RulesWrite, rules, "Rules"),
        ),
        Step::new(
            (
                "Add a webhook endpoint",
                "It is told each verdict. Without one, your application asks for the status.",
            ),
            counts.endpoints > 0,
            way(Scope::WebhooksWrite, hooks, "Webhooks"),
        ),
        Step::new(
            (
                "Send a test ping",
                "It shows whether your receiver answers and verifies the signature.",
            ),
            readiness.is_tested,
            test,
        ),
    ])
}
