//! When items came in: by day more than by night, over the last seven days.

use std::time::Duration;

use chrono::{DateTime, Timelike as _, Utc};

use super::{
    random::Chance,
    texts::{Kind, Place},
};

/// How far the example goes back.
pub(super) const SPAN: Duration = Duration::from_hours(7 * 24);

/// How many items there are, besides the coupons.
const ITEMS: u32 = 2_930;
/// How many coupons came, all on the forum, and how many hours ago that began.
const COUPONS: u32 = 70;
const COUPONS_BEGAN: u32 = 59;

/// How much comes in each hour of the day (UTC), as parts of the busiest hour in percent.
const RHYTHM: [u32; 24] = [
    14, 9, 6, 5, 6, 10, 22, 40, 58, 66, 70, 74, 80, 76, 72, 74, 78, 84, 92, 100, 96, 78, 52, 28,
];

/// The youngest item is a few minutes old, so that all that followed from it lies in the past, too.
const YOUNGEST: Duration = Duration::from_mins(5);

/// An item to invent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    pub(super) at: DateTime<Utc>,
    pub(super) place: Place,
    pub(super) kind: Kind,
}

/// All items, the oldest first.
pub(super) fn plan(now: DateTime<Utc>, chance: &mut Chance) -> Vec<Planned> {
    let hours = u32::try_from(SPAN.as_secs() / 3_600).unwrap_or(0);
    let mut planned = Vec::new();
    while planned.len() < ITEMS as usize {
        let at = now - YOUNGEST - within(hours, chance);
        // Each hour gets its part of what falls on it.
        if chance.below(100) >= RHYTHM.get(at.hour() as usize).copied().unwrap_or(0) {
            continue;
        }
        let place = if chance.happens(450) {
            Place::Marketplace
        } else {
            Place::Forum
        };
        let kind = match chance.below(1_000) {
            0..=48 => Kind::Refused,
            49..=108 => Kind::Doubtful,
            _ => Kind::Ordinary,
        };
        planned.push(Planned { at, place, kind });
    }
    let wave = now - Duration::from_hours(u64::from(COUPONS_BEGAN));
    planned.extend((0..COUPONS).map(|_| Planned {
        at: wave + within(2, chance),
        place: Place::Forum,
        kind: Kind::Coupons,
    }));
    planned.sort_by_key(|item| item.at);
    planned
}

fn within(hours: u32, chance: &mut Chance) -> Duration {
    Duration::from_millis(u64::from(chance.below(hours * 3_600_000)))
}
