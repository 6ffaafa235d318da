//! Webhook endpoints that fail, and deliveries that were given up.

use management::{
    Refused,
    endpoints::{self, Endpoint},
};

use super::{Found, NAMED, ToDo, Tone, What, cut};
use crate::number::grouped;

/// Endpoints whose last attempt failed. One that was disabled meanwhile is told for a week.
pub(super) async fn failing(found: &Found<'_>, needs: &mut Vec<ToDo>) -> Result<(), Refused> {
    let Some(team) = found.at.team() else {
        return Ok(());
    };
    let named = i64::try_from(NAMED).unwrap_or(i64::MAX);
    let of = (team, found.site);
    let management = &found.request.management;
    let (failing, of_all) = endpoints::failing_of_team(management, found.caller, of, named).await?;
    let hooks = found.at.path("webhooks");
    for endpoint in &failing {
        needs.push(need(endpoint, format!("{hooks}/{}", endpoint.id)));
    }
    let what = match of_all - named {
        ..=0 => return Ok(()),
        1 => "1 more endpoint fails".to_owned(),
        more => format!("{} more endpoints fail", grouped(more)),
    };
    needs.push(ToDo::new(Tone::Pressing, what, hooks, "All webhooks"));
    Ok(())
}

fn need(endpoint: &Endpoint, path: String) -> ToDo {
    let what = |after| What {
        name: cut(&endpoint.settings.url),
        after,
        ..What::default()
    };
    if let Some(at) = endpoint.disabled_at {
        return ToDo {
            quote: endpoint.disabled_reason.as_deref().map(cut),
            text: "Nothing is sent to it since".to_owned(),
            time: Some(at.into()),
            ..ToDo::new(Tone::Pressing, what(" was disabled"), path, "Look")
        };
    }
    ToDo {
        text: match endpoint.waiting {
            1 => "1 delivery waits. The first failure was".to_owned(),
            waiting => format!(
                "{} deliveries wait. The first failure was",
                grouped(waiting)
            ),
        },
        time: endpoint.health.failing_since.map(Into::into),
        ..ToDo::new(Tone::Pressing, what(" fails"), path, "Look")
    }
}

/// Deliveries of the time range whose attempts all failed.
pub(super) fn given_up(found: &Found<'_>, needs: &mut Vec<ToDo>) {
    let what = match found.trend.total.exhausted {
        0 => return,
        1 => "1 webhook was given up".to_owned(),
        given_up => format!("{} webhooks were given up", grouped(given_up)),
    };
    let span = found.trend.window.span.name();
    let path = found.filtered("deliveries?state=exhausted");
    needs.push(ToDo {
        text: format!("All attempts failed, in the last {span}."),
        ..ToDo::new(Tone::Pressing, what, path, "Look")
    });
}
