//! Webhook endpoints that fail, and deliveries that were given up.

use chrono::{DateTime, TimeDelta, Utc};
use management::{
    Refused,
    endpoints::{self, Endpoint},
    sites::{Counts, Page},
};

use super::{Found, NAMED, Need, Tone, What, count, cut};
use crate::number::grouped;

/// Sites whose endpoints are looked at, each in a transaction of its own.
const SITES: usize = 20;

/// Endpoints that are looked at in all. Of each, the last deliveries are counted.
const ENDPOINTS: i64 = 60;

/// Endpoints whose last attempt failed.
pub(super) async fn failing(found: &Found<'_>, needs: &mut Vec<Need>) -> Result<(), Refused> {
    let mut counts: Vec<&Counts> = found.counts.iter().collect();
    counts.retain(|counts| found.site.is_none_or(|chosen| chosen == counts.site));
    // A site that has no endpoint may have one that was disabled.
    counts.sort_by_key(|counts| counts.endpoints == 0);
    let mut room = ENDPOINTS;
    let mut failing = Vec::new();
    for counts in counts.iter().take(SITES) {
        let first = Page {
            after: None,
            limit: room,
        };
        let endpoints =
            endpoints::list(&found.visit.management, found.caller, counts.site, first).await?;
        room -= i64::try_from(endpoints.len()).unwrap_or(room);
        failing.extend(endpoints.into_iter().filter(fails));
        if room <= 0 {
            break;
        }
    }
    let hooks = found.at.path("webhooks");
    for endpoint in failing.iter().take(NAMED) {
        needs.push(need(endpoint, format!("{hooks}/{}", endpoint.id)));
    }
    if failing.len() > NAMED {
        let what = match failing.len() - NAMED {
            1 => "1 more endpoint fails".to_owned(),
            more => format!("{} more endpoints fail", count(more)),
        };
        let path = hooks.clone();
        needs.push(Need::new(Tone::Pressing, what, path, "All webhooks"));
    }
    let has_more = counts.get(SITES).is_some_and(|next| next.endpoints > 0);
    if has_more || room <= 0 {
        let what = "Further endpoints are not checked here".to_owned();
        needs.push(Need {
            text: format!("Only {ENDPOINTS} endpoints of {SITES} sites are."),
            ..Need::new(Tone::Sometime, what, hooks, "All webhooks")
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
    let what = |after| What {
        name: cut(&endpoint.settings.url),
        after,
        ..What::default()
    };
    if let Some(at) = endpoint.disabled_at {
        return Need {
            quote: endpoint.disabled_reason.as_deref().map(cut),
            text: "Nothing is sent to it since".to_owned(),
            time: Some(at.into()),
            ..Need::new(Tone::Pressing, what(" was disabled"), path, "Look")
        };
    }
    Need {
        text: match endpoint.waiting {
            1 => "1 delivery waits. The first failure was".to_owned(),
            waiting => format!(
                "{} deliveries wait. The first failure was",
                grouped(waiting)
            ),
        },
        time: endpoint.health.failing_since.map(Into::into),
        ..Need::new(Tone::Pressing, what(" fails"), path, "Look")
    }
}

/// Deliveries of the span of time whose attempts all failed.
pub(super) fn given_up(found: &Found<'_>, needs: &mut Vec<Need>) {
    let what = match found.course.total.exhausted {
        0 => return,
        1 => "1 webhook was given up".to_owned(),
        given_up => format!("{} webhooks were given up", grouped(given_up)),
    };
    let span = found.course.window.span.name();
    let path = found.filtered("deliveries?status=exhausted");
    needs.push(Need {
        text: format!("All attempts failed, in the last {span}."),
        ..Need::new(Tone::Pressing, what, path, "Look")
    });
}
