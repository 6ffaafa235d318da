//! Which dead jobs somebody asks for.

use chrono::{DateTime, Utc};
use management::{
    dead_jobs::{DeathCause, Filter, JobId, Place},
    queues::{Group, Lane},
};
use uuid::Uuid;

use crate::{
    page::{Form, Problems, Texts},
    time,
};

pub(super) const CAUSES: [DeathCause; 4] = DeathCause::ALL;
/// Characters of a text that is looked for in errors.
pub(super) const LONGEST_ERROR: usize = 200;
/// Bytes of a queue's name.
const LONGEST_QUEUE: usize = 63;

/// The fields of the filter.
const FIELDS: [&str; 7] = [
    "queue", "cause", "error", "team_id", "lane_id", "since", "until",
];

/// The filters as they are used.
#[derive(Default)]
pub(super) struct Conditions {
    queue: Option<String>,
    cause: Option<DeathCause>,
    error: Option<String>,
    group: Option<Group>,
    lane: Option<Lane>,
    since: Option<DateTime<Utc>>,
    until: Option<DateTime<Utc>>,
}

pub(super) fn typed(form: &Form) -> Texts {
    Texts::sent(form, &FIELDS)
}

/// What the filter means. `Err`: a part of it means nothing.
pub(super) fn parsed(typed: &Texts) -> Result<Conditions, Problems> {
    let mut problems = Problems::default();
    let mut wrong = |field, message: &str| problems.add(field, message);
    let mut conditions = Conditions::default();
    for (field, text) in typed.given() {
        match field {
            "queue" if is_queue(text) => conditions.queue = Some(text.to_owned()),
            "queue" => wrong(field, "must be the name of a queue"),
            "cause" => match CAUSES.into_iter().find(|cause| cause.as_str() == text) {
                Some(cause) => conditions.cause = Some(cause),
                None => wrong(field, "must be one of the list"),
            },
            "error" if is_text(text) => conditions.error = Some(text.to_owned()),
            "error" => wrong(field, "must have at most 200 characters, and no NUL"),
            "team_id" | "lane_id" => match (text.parse::<Uuid>(), field) {
                (Ok(id), "team_id") => conditions.group = Some(Group(id)),
                (Ok(id), _) => conditions.lane = Some(Lane(id)),
                (Err(_), _) => wrong(field, "must be an ID"),
            },
            _ => match (time::recent(text), field) {
                (Some(at), "since") => conditions.since = Some(at),
                (Some(at), _) => conditions.until = Some(at),
                (None, _) => {
                    wrong(field, "must be a date and a time, such as 2026-03-31T12:00");
                }
            },
        }
    }
    problems.into_result(conditions)
}

impl Conditions {
    /// The jobs that meet all of them.
    pub(super) fn filter(&self) -> Filter<'_> {
        Filter {
            ids: None,
            queue: self.queue.as_deref(),
            group: self.group,
            lane: self.lane,
            cause: self.cause,
            error: self.error.as_deref(),
            after: self.since.map(beginning_of),
            before: self.until.map(beginning_of),
        }
    }
}

pub(super) fn cause_in_words(cause: DeathCause) -> &'static str {
    match cause {
        DeathCause::Exhausted => "no attempts left",
        DeathCause::Aborted => "given up at once",
        DeathCause::Undecodable => "not readable",
        DeathCause::WorkerLost => "worker lost",
    }
}

/// The place before all jobs that died at a time or later.
fn beginning_of(time: DateTime<Utc>) -> Place {
    Place {
        died_at: time,
        id: JobId(i64::MIN),
    }
}

fn is_queue(text: &str) -> bool {
    let is_part = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.');
    text.len() <= LONGEST_QUEUE && text.bytes().all(is_part)
}

fn is_text(text: &str) -> bool {
    text.chars().count() <= LONGEST_ERROR && !text.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_means_nothing_is_told_at_its_field() {
        let long = "x".repeat(LONGEST_ERROR + 1);
        for (field, text) in [
            ("queue", "Web hooks"),
            ("queue", "a\0"),
            ("cause", "bored"),
            ("error", "a\0b"),
            ("error", &long),
            ("team_id", "team"),
            ("lane_id", "1"),
            ("since", "yesterday"),
            ("until", "12026-01-01T00:00"),
        ] {
            let typed = Texts::stored([(field, text.to_owned())]);
            let problems = parsed(&typed).err().unwrap();
            assert!(problems.at(field).is_some(), "{field} {text:?}");
        }
        assert!(parsed(&Texts::stored([])).is_ok());
    }
}
