//! Sums in memory.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, Utc};
use uuid::Uuid;

use crate::statistics::{Figures, totals::EVERYTHING};

/// The rows of a site in an hour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) site: Uuid,
    pub(super) team: Uuid,
    pub(super) hour: DateTime<Utc>,
}

/// A rule's row: the site or team, the day, the group and the rule.
pub(super) type RuleKey = (Uuid, NaiveDate, Uuid, Uuid);

/// How often a rule matched, and its name.
#[derive(Clone, Debug)]
pub(super) struct Matched {
    pub(super) name: String,
    pub(super) matches: i64,
}

/// The sums of a slice.
#[derive(Debug, Default)]
pub(super) struct Tally {
    hours: HashMap<(Uuid, DateTime<Utc>), Figures>,
    pub(super) matches: HashMap<RuleKey, Matched>,
}

impl Tally {
    /// Adds figures of a site to those of the site, its team, and everything.
    pub(super) fn add(&mut self, place: Place, figures: Figures) {
        add(&mut self.hours, place, figures);
    }

    pub(super) fn add_matches(&mut self, key: RuleKey, matched: &Matched) {
        self.matches
            .entry(key)
            .and_modify(|known| known.matches += matched.matches)
            .or_insert_with(|| matched.clone());
    }

    /// The figures by site, team or everything, and by hour, with some more of them.
    pub(super) fn with(
        &self,
        more: Vec<(Place, Figures)>,
    ) -> HashMap<(Uuid, DateTime<Utc>), Figures> {
        let mut hours = self.hours.clone();
        for (place, figures) in more {
            add(&mut hours, place, figures);
        }
        hours
    }
}

fn add(hours: &mut HashMap<(Uuid, DateTime<Utc>), Figures>, place: Place, figures: Figures) {
    for subject in [place.site, place.team, EVERYTHING] {
        *hours.entry((subject, place.hour)).or_default() += figures;
    }
}
