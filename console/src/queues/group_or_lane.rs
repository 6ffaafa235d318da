//! One group or one lane of a queue.

use std::sync::Arc;

use askama::Template;
use domain::{id::TeamId, scope::Scope};
use management::{Refused, queues, teams};
use poem::http::StatusCode;

use super::{
    frame,
    pauses_and_caps::Typed,
    target::{Part, Target},
};
use crate::{
    error_page::PageError,
    number::grouped,
    page::{self, Frame},
    request::PageRequest,
    router::Answer,
    time::Moment,
};

#[derive(Template)]
#[template(path = "queues/group_or_lane.html")]
struct Shown {
    frame: Frame,
    place: Target,
    id: String,
    /// The team with this id, if there is one.
    team: Option<String>,
    row: State,
    typed: Typed,
}

/// What is known of it.
struct State {
    due: String,
    running: String,
    cap: Option<i32>,
    is_paused: bool,
    paused_until: Option<Moment>,
}

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    let place = Target::of(&request)?;
    page(&request, place, StatusCode::OK, Typed::default()).await
}

pub(super) async fn page(
    request: &PageRequest,
    place: Target,
    status: StatusCode,
    typed: Typed,
) -> Answer {
    let frame = frame(request, Scope::QueuesRead).await?;
    let caller = request.caller(None)?;
    let management = &request.management;
    let (id, row) = match place.part {
        Part::Whole => return Err(PageError::NoSuchPage),
        Part::Group(group) => {
            let found = queues::get_group(management, &caller, &place.queue, group).await?;
            let state = State {
                due: grouped(found.due),
                running: grouped(found.running),
                cap: found.cap,
                is_paused: found.is_paused,
                paused_until: found.paused_until.map(Moment::from),
            };
            (group.0, state)
        }
        Part::Lane(lane) => {
            let found = queues::get_lane(management, &caller, &place.queue, lane).await?;
            let state = State {
                due: grouped(found.due),
                running: grouped(found.running),
                cap: found.cap,
                is_paused: found.is_paused,
                paused_until: found.paused_until.map(Moment::from),
            };
            (lane.0, state)
        }
    };
    let team = match teams::get(management, &caller, TeamId::from_uuid(id)).await {
        Ok(team) => Some(team.name),
        Err(Refused::NotFound(_)) => None,
        Err(other) => return Err(other.into()),
    };
    Ok(page::html(
        status,
        &Shown {
            frame,
            place,
            id: id.to_string(),
            team,
            row,
            typed,
        },
    ))
}
