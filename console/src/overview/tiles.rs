//! The tiles: a figure each, with a line of its trend and the change from the period before.

use management::{media::Waiting, statistics::Figures};

use super::{
    percentages::{WHOLE, change, hundredths, points, tenths},
    trend::{Trend, by_people, delivered, every_verdict, sent_to_review},
};
use crate::{charts::sparkline, number::grouped};

/// So many items that wait for a person are counted.
pub(super) const COUNTED: usize = 200;

pub(super) struct Tile {
    pub(super) label: &'static str,
    pub(super) value: String,
    pub(super) note: String,
    /// The change from the period before, if there is one to compare with.
    pub(super) change: Option<String>,
    pub(super) tone: &'static str,
    /// The points of its line.
    pub(super) spark: String,
}

pub(super) fn tiles(trend: &Trend, waiting: &Waiting) -> [Tile; 4] {
    let total = &trend.total;
    let (people, verdicts) = (by_people(total), every_verdict(total).sum());
    let of_all = if verdicts == 0 {
        "no verdicts".to_owned()
    } else {
        format!("{} of all verdicts", tenths(people, verdicts))
    };
    let span = trend.window.span.name();
    [
        tile(trend, "Items", |figures| figures.accepted).noted(format!("in the last {span}")),
        tile(trend, "Decided by people", by_people).noted(of_all),
        Tile {
            value: waiting_count(waiting),
            ..tile(trend, "Waiting for a person", sent_to_review)
        }
        .noted(format!(
            "now; {} sent to review",
            grouped(sent_to_review(total))
        )),
        webhooks(trend),
    ]
}

impl Tile {
    fn noted(self, note: String) -> Self {
        Self { note, ..self }
    }
}

fn tile(trend: &Trend, label: &'static str, figure: fn(&Figures) -> i64) -> Tile {
    let (now, before) = &trend.compared;
    let values = trend.steps.iter().map(|step| figure(step).unsigned_abs());
    Tile {
        label,
        value: grouped(figure(&trend.total)),
        note: String::new(),
        change: change(figure(now), figure(before)).map(|change| since(trend, &change)),
        tone: "",
        spark: sparkline(&values.collect::<Vec<_>>()),
    }
}

fn webhooks(trend: &Trend) -> Tile {
    let total = &trend.total;
    let (now, before) = &trend.compared;
    // A step in which no delivery ended goes on like the one before it.
    let mut last = trend.steps.iter().find_map(delivered).unwrap_or(WHOLE);
    let values = trend.steps.iter().map(|step| {
        last = delivered(step).unwrap_or(last);
        last
    });
    let values: Vec<u64> = values.collect();
    Tile {
        label: "Webhooks delivered",
        value: delivered(total).map_or_else(|| "–".to_owned(), hundredths),
        note: failures(total),
        change: delivered(now)
            .zip(delivered(before))
            .map(|(now, before)| since(trend, &points(now, before))),
        tone: if total.exhausted > 0 { "warn" } else { "" },
        spark: sparkline(&values),
    }
}

/// What went wrong with webhooks.
fn failures(total: &Figures) -> String {
    let failed = match (total.failed_attempts, delivered(total)) {
        (0, None) => "none was sent".to_owned(),
        (1, _) => "1 attempt failed".to_owned(),
        (failed, _) => format!("{} attempts failed", grouped(failed)),
    };
    match total.exhausted {
        0 => failed,
        given_up => format!("{failed}, {} given up", grouped(given_up)),
    }
}

fn since(trend: &Trend, change: &str) -> String {
    format!(
        "{change} from the {} before",
        trend.window.span.short_name()
    )
}

/// How many items wait for a person, as people read it.
pub(super) fn waiting_count(waiting: &Waiting) -> String {
    let counted = grouped(waiting.counted);
    if waiting.has_more {
        format!("{counted}+")
    } else {
        counted
    }
}
