//! What came, and what should not have come.

use std::{
    collections::{HashMap, hash_map::Entry},
    time::Instant,
};

use domain::{event::EventKind, media::Status};
use uuid::Uuid;

/// How many complaints are kept in words.
const KEPT_COMPLAINTS: usize = 10;

/// What came for one event of one item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// When it was first taken with a 200.
    pub(crate) first: Instant,
    /// How often it was taken.
    pub(crate) times: u32,
    /// The site that it came for.
    pub(crate) site: usize,
    pub(crate) delivery: Uuid,
    pub(crate) event: Uuid,
    /// The status in its body.
    pub(crate) status: Status,
    /// A hash of the body.
    pub(super) body: u64,
}

/// An item and one kind of event.
pub(crate) type Key = (Uuid, EventKind);

/// Everything that came.
#[derive(Default)]
pub(crate) struct Arrivals {
    pub(crate) by_event: HashMap<Key, Arrival>,
    /// How many requests a careless receiver took, and when the first and the last of them came.
    pub(crate) taken: u64,
    pub(crate) between: Option<(Instant, Instant)>,
    /// How many requests were answered with a 500 on purpose.
    pub(crate) refused: u64,
    /// The number of requests that no receiver should get, and messages about the first few.
    pub(crate) complaints: u64,
    pub(crate) examples: Vec<String>,
}

impl Arrivals {
    pub(super) fn count(&mut self) {
        let now = Instant::now();
        self.taken += 1;
        self.between = Some((self.between.map_or(now, |(first, _)| first), now));
    }

    pub(super) fn take(&mut self, key: Key, arrival: Arrival) {
        let known = match self.by_event.entry(key) {
            Entry::Vacant(place) => {
                place.insert(arrival);
                return;
            }
            Entry::Occupied(known) => known.into_mut(),
        };
        known.times += 1;
        let same = known.delivery == arrival.delivery
            && known.event == arrival.event
            && known.body == arrival.body;
        if !same {
            let (media, kind) = key;
            self.complain(&format!("{kind} of {media} came twice and not alike"));
        }
    }

    pub(super) fn complain(&mut self, words: &str) {
        self.complaints += 1;
        if self.examples.len() < KEPT_COMPLAINTS {
            self.examples.push(words.to_owned());
        }
    }
}
