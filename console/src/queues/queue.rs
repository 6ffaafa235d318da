//! One queue with its busiest groups and lanes, and one of these: what holds it back, pausing, resuming and capping it.

use std::{collections::HashMap, time::Duration};

use askama::Template;
use chrono::{DateTime, Utc};
use domain::id::TeamId;
use management::{
    Refused,
    queues::{self, Group, GroupStats, Lane, LaneStats, Pause},
    teams,
};
use uuid::Uuid;

use super::{
    Row,
    target::{Change, Part, Target},
};
use crate::{
    number::grouped,
    page::{self, Answer, Frame, PageError, PageRequest, Problems, pager},
};

/// The most groups, and the most lanes, on the page.
const ROWS: u32 = 20;
/// Teams that are known by name in lists.
const NAMED_TEAMS: i64 = 200;
/// The longest pause with an end, in minutes: a year.
const LONGEST: u32 = 525_600;

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
    problems: Problems,
}

#[derive(Template)]
#[template(path = "queues/group_or_lane.html")]
struct ShownPart {
    frame: Frame,
    place: Target,
    /// The team with this id, if there is one.
    team: Option<String>,
    row: PartRow,
    problems: Problems,
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
    paused_until: Option<DateTime<Utc>>,
}

type Names = HashMap<Uuid, String>;

impl PartRow {
    fn group(group: GroupStats, names: &Names) -> Self {
        Self::new(Part::Group(group.group), group, names)
    }

    /// A lane has the same figures as a group.
    fn lane(lane: LaneStats, names: &Names) -> Self {
        let figures = GroupStats {
            queue: lane.queue,
            group: Group(lane.lane.0),
            due: lane.due,
            running: lane.running,
            cap: lane.cap,
            is_paused: lane.is_paused,
            paused_until: lane.paused_until,
        };
        Self::new(Part::Lane(lane.lane), figures, names)
    }

    fn new(part: Part, figures: GroupStats, names: &Names) -> Self {
        let id = figures.group.0;
        let queue = figures.queue;
        Self {
            id,
            path: Target { queue, part }.path(),
            name: names.get(&id).cloned(),
            due: grouped(figures.due),
            running: grouped(figures.running),
            cap: figures.cap,
            is_paused: figures.is_paused,
            paused_until: figures.paused_until,
        }
    }
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, Target::of(&request)?, Problems::default()).await
}

/// Leads to the group or the lane with an id.
pub(crate) async fn find(request: PageRequest) -> Answer {
    let Target { queue, .. } = Target::of(&request)?;
    if !is_ours(&queue) {
        return Err(PageError::NoSuchPage);
    }
    let Ok(id) = request.query.get("id").trim().parse::<Uuid>() else {
        let problems = Problems::field("id", "must be the ID of a team or an endpoint");
        let part = Part::Whole;
        return page(&request, Target { queue, part }, problems).await;
    };
    let part = match request.query.get("part") {
        "lane" => Part::Lane(Lane(id)),
        _ => Part::Group(Group(id)),
    };
    Ok(page::see_other(Target { queue, part }.path()))
}

pub(crate) async fn pause(request: PageRequest) -> Answer {
    match minutes(request.form.get("minutes").trim()) {
        Ok(pause) => change(&request, Change::Pause(pause), "jobs-paused").await,
        Err(refused) => again(&request, refused).await,
    }
}

pub(crate) async fn resume(request: PageRequest) -> Answer {
    change(&request, Change::Pause(Pause::End), "jobs-resumed").await
}

pub(crate) async fn cap(request: PageRequest) -> Answer {
    let typed = request.form.get("cap").trim();
    if let Some(cap) = whole(typed, i32::MAX.unsigned_abs()) {
        change(&request, Change::Cap(Some(cap)), "jobs-capped").await
    } else {
        let message = "must be a whole number from 1 to 2,147,483,647";
        again(&request, Refused::field("cap", message)).await
    }
}

pub(crate) async fn uncap(request: PageRequest) -> Answer {
    change(&request, Change::Cap(None), "jobs-uncapped").await
}

async fn change(request: &PageRequest, change: Change, done: &str) -> Answer {
    let place = Target::of(request)?;
    place.change(request, change).await?;
    Ok(page::see_other(format!("{}?done={done}", place.path())))
}

/// The page again, with what was typed and what is wrong with it.
async fn again(request: &PageRequest, refused: Refused) -> Answer {
    page(request, Target::of(request)?, Problems::of(refused)?).await
}

async fn page(request: &PageRequest, place: Target, problems: Problems) -> Answer {
    let frame = Frame::of(request, "queues").await?;
    let caller = request.caller()?;
    let row = match place.part {
        Part::Whole => return whole_queue(request, frame, place, problems).await,
        Part::Group(group) => {
            let found = queues::get_group(&caller, &place.queue, group).await?;
            PartRow::group(found, &Names::new())
        }
        Part::Lane(lane) => {
            let found = queues::get_lane(&caller, &place.queue, lane).await?;
            PartRow::lane(found, &Names::new())
        }
    };
    let team = match teams::get(&caller, TeamId::from_uuid(row.id)).await {
        Ok(team) => Some(team.name),
        Err(Refused::NotFound(_)) => None,
        Err(other) => return Err(other.into()),
    };
    let page = ShownPart {
        frame,
        place,
        team,
        row,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

async fn whole_queue(
    request: &PageRequest,
    frame: Frame,
    place: Target,
    problems: Problems,
) -> Answer {
    let caller = request.caller()?;
    let details = queues::get(&caller, &place.queue, ROWS).await?;
    let teams = teams::list(&caller, pager::first(NAMED_TEAMS)).await?;
    let names = teams.into_iter().map(|team| (team.id.as_uuid(), team.name));
    let names: Names = names.collect();
    let left = |all: i64, shown: usize| all - i64::try_from(shown).unwrap_or(all);
    let page = Shown {
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
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

fn is_ours(queue: &str) -> bool {
    queues::names().any(|name| name == queue)
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
