//! Pausing, resuming and capping a queue, a group or a lane.

use std::{sync::Arc, time::Duration};

use domain::scope::Scope;
use management::{Refused, queues::Pause};
use poem::http::StatusCode;

use super::{
    frame, group_or_lane, queue,
    target::{Change, Part, Target},
};
use crate::{page, problems::Problems, request::PageRequest, router::Answer};

/// The longest pause with an end, in minutes: a year.
const LONGEST: u32 = 525_600;

/// What was typed, and what is wrong with it.
#[derive(Default)]
pub(super) struct Typed {
    pub(super) minutes: String,
    pub(super) cap: String,
    pub(super) problems: Problems,
}

pub(crate) async fn pause(request: Arc<PageRequest>) -> Answer {
    match minutes(request.form.get("minutes").trim()) {
        Ok(pause) => change(&request, Change::Pause(pause), "jobs-paused").await,
        Err(refused) => again(&request, refused).await,
    }
}

pub(crate) async fn resume(request: Arc<PageRequest>) -> Answer {
    change(&request, Change::Pause(Pause::End), "jobs-resumed").await
}

pub(crate) async fn cap(request: Arc<PageRequest>) -> Answer {
    let typed = request.form.get("cap").trim();
    if let Some(cap) = whole(typed, i32::MAX.unsigned_abs()) {
        change(&request, Change::Cap(Some(cap)), "jobs-capped").await
    } else {
        let message = "must be a whole number from 1 to 2,147,483,647";
        again(&request, Refused::field("cap", message)).await
    }
}

pub(crate) async fn uncap(request: Arc<PageRequest>) -> Answer {
    change(&request, Change::Cap(None), "jobs-uncapped").await
}

async fn change(request: &PageRequest, change: Change, done: &str) -> Answer {
    frame(request, Scope::QueuesWrite).await?;
    let place = Target::of(request)?;
    place.change(request, change).await?;
    Ok(page::see_other(format!("{}?done={done}", place.path())))
}

/// The page again, with what was typed and what is wrong with it.
async fn again(request: &PageRequest, refused: Refused) -> Answer {
    frame(request, Scope::QueuesWrite).await?;
    let typed = Typed {
        minutes: request.form.get("minutes").to_owned(),
        cap: request.form.get("cap").to_owned(),
        problems: Problems::of(refused)?,
    };
    let (place, status) = (Target::of(request)?, StatusCode::UNPROCESSABLE_ENTITY);
    match place.part {
        Part::Whole => queue::page(request, place, status, typed).await,
        Part::Group(_) | Part::Lane(_) => group_or_lane::page(request, place, status, typed).await,
    }
}

fn minutes(text: &str) -> Result<Pause, Refused> {
    if text.is_empty() {
        return Ok(Pause::UntilResumed);
    }
    let minutes = whole(text, LONGEST).ok_or_else(|| {
        Refused::field(
            "minutes",
            "must be a whole number from 1 to 525,600, or empty",
        )
    })?;
    Ok(Pause::For(Duration::from_mins(minutes.into())))
}

fn whole(text: &str, most: u32) -> Option<u32> {
    let number = text.parse().ok()?;
    (1..=most).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_lasts_for_minutes_or_until_it_is_ended() {
        assert_eq!(minutes("").unwrap(), Pause::UntilResumed);
        let hour = Pause::For(Duration::from_hours(1));
        assert_eq!(minutes("60").unwrap(), hour);
        for wrong in [
            "0",
            "-1",
            "1.5",
            "525601",
            "an hour",
            "99999999999999999999",
        ] {
            assert!(minutes(wrong).is_err(), "{wrong}");
        }
    }
}
