//! Webhook endpoints that fail, and deliveries that were given up.

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::SiteId;
use management::{
    Refused,
    endpoints::{self, Endpoint},
    sites::Page,
};

use super::{Found, NAMED, Need, Tone, count, cut};
use crate::number::grouped;

/// Sites whose endpoints are looked at, each in a transaction of its own.
const SITES: usize = 20;

/// Endpoints of each.
const ENDPOINTS: i64 = 50;

/// Endpoints whose last attempt failed.
pub(super) async fn failing(found: &Found<'_>, needs: &mut Vec<Need>) -> Result<(), Refused> {
    let sites = found.counts.iter().filter(|counts| counts.endpoints > 0);
    let sites = sites.map(|counts| counts.site);
    let sites: Vec<SiteId> = match found.site {
        Some(chosen) => sites.filter(|site| *site == chosen).collect(),
        None => sites.collect(),
    };
    let first = Page {
        after: None,
        limit: ENDPOINTS,
    };
    let mut failing = Vec::new();
    for site in sites.iter().take(SITES) {
        let endpoints =
            endpoints::list(&found.visit.management, found.caller, *site, first).await?;
        failing.extend(endpoints.into_iter().filter(fails));
    }
    let hooks = found.at.path("webhooks");
    for endpoint in failing.iter().take(NAMED) {
        needs.push(need(endpoint, format!("{hooks}/{}", endpoint.id)));
    }
    if failing.len() > NAMED {
        needs.push(Need {
            tone: Tone::Pressing,
            what: format!("{} more endpoints fail", count(failing.len() - NAMED)),
            text: String::new(),
            time: None,
            path: hooks.clone(),
            action: "All webhooks",
        });
    }
    if sites.len() > SITES {
        needs.push(Need {
            tone: Tone::Sometime,
            what: "Further endpoints are not checked here".to_owned(),
            text: format!("Only those of {SITES} sites are."),
            time: None,
            path: hooks,
            action: "All webhooks",
        });
    }
    Ok(())
}

/// Whether the last attempt failed. An endpoint that was disabled meanwhile is told for a week.
fn fails(endpoint: &Endpoint) -> bool {
    let is_recent = |disabled: DateTime<Utc>| disabled > endpoint.at - TimeDelta::days(7);
    endpoint.health.failing_since.is_some() && endpoint.disabled_at.is_none_or(is_recent)
}

fn need(endpoint: &Endpoint, path: String) -> Need {
    let url = cut(&endpoint.settings.url);
    let (what, text, time) = match (endpoint.disabled_at, endpoint.waiting) {
        (Some(at), _) => {
            let reason = cut(endpoint.disabled_reason.as_deref().unwrap_or_default());
            (
                format!("{url} was disabled"),
                format!("“{reason}”,"),
                Some(at),
            )
        }
        (None, waiting) => {
            let text = match waiting {
                1 => "1 delivery waits. The first failure was".to_owned(),
                waiting => format!(
                    "{} deliveries wait. The first failure was",
                    grouped(waiting)
                ),
            };
            (format!("{url} fails"), text, endpoint.health.failing_since)
        }
    };
    Need {
        tone: Tone::Pressing,
        what,
        text,
        time: time.map(Into::into),
        path,
        action: "Look",
    }
}

/// Deliveries of the span of time whose attempts all failed.
pub(super) fn given_up(found: &Found<'_>, needs: &mut Vec<Need>) {
    let given_up = found.course.total.exhausted;
    if given_up == 0 {
        return;
    }
    let site = found.site.map(|site| format!("&site={site}"));
    needs.push(Need {
        tone: Tone::Pressing,
        what: match given_up {
            1 => "1 webhook was given up".to_owned(),
            given_up => format!("{} webhooks were given up", grouped(given_up)),
        },
        text: format!(
            "All attempts failed, in the last {}.",
            found.course.window.span.name()
        ),
        time: None,
        path: format!(
            "{}?status=exhausted{}",
            found.at.path("deliveries"),
            site.unwrap_or_default()
        ),
        action: "Look",
    });
}
