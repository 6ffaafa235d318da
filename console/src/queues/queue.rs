//! One queue: what holds it back, and its busiest groups and lanes.

use std::{collections::HashMap, sync::Arc};

use askama::Template;
use domain::scope::Scope;
use management::{
    queues::{self, GroupStats, LaneStats},
    sites::Page,
    teams,
};
use poem::http::StatusCode;
use uuid::Uuid;

use super::{
    Row, frame,
    pauses_and_caps::Typed,
    target::{Part, Target},
};
use crate::{
    error_page::PageError,
    number::grouped,
    page::{self, Frame},
    problems::Problems,
    request::PageRequest,
    router::Answer,
    time::Moment,
};

/// The most groups, and the most lanes, on the page.
const ROWS: u32 = 20;
/// Teams that are known by name in lists.
const NAMED_TEAMS: i64 = 200;

#[derive(Template)]
#[template(path = "queues/queue.html")]
struct Shown {
    frame: Frame,
    place: Target,
    row: Row,
    /// Whether this version can change it.
    is_ours: bool,
    /// Whether its lanes are endpoints of webhooks.
    has_endpoints: bool,
    groups: Vec<PartRow>,
    more_groups: i64,
    lanes: Vec<PartRow>,
    more_lanes: i64,
    typed: Typed,
}

/// A group or a lane.
struct PartRow {
    id: Uuid,
    path: String,
    /// The team's name, if it is one of the first.
    name: Option<String>,
    due: String,
    running: String,
    cap: Option<i32>,
    is_paused: bool,
    paused_until: Option<Moment>,
}

type Names = HashMap<Uuid, String>;

impl PartRow {
    fn group(group: GroupStats, names: &Names) -> Self {
        let id = group.group.0;
        let part = Part::Group(group.group);
        Self {
            id,
            path: Target {
                queue: group.queue,
                part,
            }
            .path(),
            name: names.get(&id).cloned(),
            due: grouped(group.due),
            running: grouped(group.running),
            cap: group.cap,
            is_paused: group.is_paused,
            paused_until: group.paused_until.map(Moment::from),
        }
    }

    fn lane(lane: LaneStats, names: &Names) -> Self {
        let id = lane.lane.0;
        let part = Part::Lane(lane.lane);
        Self {
            id,
            path: Target {
                queue: lane.queue,
                part,
            }
            .path(),
            name: names.get(&id).cloned(),
            due: grouped(lane.due),
            running: grouped(lane.running),
            cap: lane.cap,
            is_paused: lane.is_paused,
            paused_until: lane.paused_until.map(Moment::from),
        }
    }
}

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    let place = Target::of(&request)?;
    page(&request, place, StatusCode::OK, Typed::default()).await
}

/// Leads to the group or the lane with an id.
pub(crate) async fn find(request: Arc<PageRequest>) -> Answer {
    frame(&request, Scope::QueuesRead).await?;
    let Target { queue, .. } = Target::of(&request)?;
    if !is_ours(&queue) {
        return Err(PageError::NoSuchPage);
    }
    let Ok(id) = request.query.get("id").trim().parse::<Uuid>() else {
        let mut problems = Problems::default();
        problems.add("id", "must be the ID of a team or an endpoint");
        let typed = Typed {
            problems,
            ..Typed::default()
        };
        let part = Part::Whole;
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return page(&request, Target { queue, part }, status, typed).await;
    };
    let part = match request.query.get("part") {
        "lane" => Part::Lane(queues::Lane(id)),
        _ => Part::Group(queues::Group(id)),
    };
    Ok(page::see_other(Target { queue, part }.path()))
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
    let details = queues::get(management, &caller, &place.queue, ROWS).await?;
    let first = Page {
        after: None,
        limit: NAMED_TEAMS,
    };
    let teams = teams::list(management, &caller, first).await?.into_iter();
    let names: Names = teams.map(|team| (team.id.as_uuid(), team.name)).collect();
    let left = |all: i64, shown: usize| all - i64::try_from(shown).unwrap_or(all);
    Ok(page::html(
        status,
        &Shown {
            frame,
            is_ours: is_ours(&place.queue),
            has_endpoints: place.queue == "webhooks",
            row: details.queue.into(),
            more_groups: left(details.all_groups, details.groups.len()),
            groups: details
                .groups
                .into_iter()
                .map(|group| PartRow::group(group, &names))
                .collect(),
            more_lanes: left(details.all_lanes, details.lanes.len()),
            lanes: details
                .lanes
                .into_iter()
                .map(|lane| PartRow::lane(lane, &names))
                .collect(),
            place,
            typed,
        },
    ))
}

fn is_ours(queue: &str) -> bool {
    queues::names().any(|name| name == queue)
}
