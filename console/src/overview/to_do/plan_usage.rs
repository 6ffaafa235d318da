//! A plan that is nearly used up.

use domain::scope::Scope;
use management::{Refused, usage};

use super::{Found, ToDo, Tone};
use crate::{
    number::{grouped, percent},
    page::Area,
};

/// From this share on, in percent, the use of a quota is told.
const MUCH: i64 = 80;

/// Quotas of the present billing period that are nearly used up.
pub(super) async fn used(found: &Found<'_>, needs: &mut Vec<ToDo>) -> Result<(), Refused> {
    let Area::Team(team) = found.at else {
        return Ok(());
    };
    if !found.frame.may(Scope::UsageRead) {
        return Ok(());
    }
    let periods = match usage::periods(&found.request.management, found.caller, team).await {
        Ok(periods) => periods,
        // A team without a subscription has none.
        Err(Refused::NotFound(_)) => {
            let what = "Your team has no subscription".to_owned();
            needs.push(ToDo {
                text: "Submissions are refused.".to_owned(),
                ..need(found, Tone::Pressing, what)
            });
            return Ok(());
        }
        Err(other) => return Err(other),
    };
    let Some(period) = periods.first() else {
        return Ok(());
    };
    for (what, used, quota) in [
        ("submissions", period.submissions, period.quota),
        ("webhooks", period.deliveries, period.delivery_quota),
    ] {
        let Some(quota) = quota else { continue };
        let share = percent(used, quota);
        let (tone, what) = match share {
            100.. => (Tone::Pressing, format!("All {what} of your plan are used")),
            MUCH..100 => (
                Tone::Soon,
                format!("{share} % of your plan's {what} are used"),
            ),
            _ => continue,
        };
        let text = format!("{} of {}, until", grouped(used), grouped(quota));
        needs.push(ToDo {
            text,
            time: Some(period.end.into()),
            ..need(found, tone, what)
        });
    }
    Ok(())
}

fn need(found: &Found<'_>, tone: Tone, what: String) -> ToDo {
    ToDo::new(tone, what, found.at.path("usage"), "Usage and plan")
}
