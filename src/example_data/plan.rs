//! What is invented: when items came in, by day more than by night, over the last seven days, and their texts, from templates. Nobody's
//! words, and no word that hurts.

use std::time::Duration;

use chrono::{DateTime, Timelike as _, Utc};

/// A site of the example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Marketplace,
    Forum,
}

/// What a text is about. The rules decide what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Ordinary,
    /// Something that a person should see.
    Doubtful,
    /// Something that the rules of the site refuse.
    Refused,
    /// The wave of links that all came within two hours.
    Coupons,
}

const LISTINGS: &[&str] = &[
    "{thing} for sale, used for {number} months, in good condition. Pick up in {town}.",
    "Selling my {thing}. It has a small scratch, see the last photo. {number} euros or best offer.",
    "Looking for a {thing}, ideally near {town}. I can pay up to {number} euros.",
    "{thing}, nearly new, with the original box. Can be sent for {number} euros.",
    "We are moving to {town} and cannot take the {thing} with us. Yours for {number} euros.",
    "{thing} in need of a little repair. A nice project for the winter. {number} euros.",
    "Is the {thing} still available? I could come by on the weekend from {town}.",
    "Thank you for the quick delivery, the {thing} is just as described.",
    "Set of {number} parts for a {thing}, all complete. No smoking household.",
    "Swap: my {thing} for a larger one. I am in {town} most evenings.",
];

const POSTS: &[&str] = &[
    "Has anybody tried to restore a {thing}? I have been at it for {number} days now.",
    "I read the guide about the {thing} twice and still have a question about step {number}.",
    "Welcome to everybody who joined this week! Tell us about your {thing}.",
    "The meetup in {town} was lovely, thanks to all {number} of you who came.",
    "I disagree, but that is a fair point. My {thing} worked well for {number} years.",
    "Photos of the {thing} are in the gallery now. It took me {number} evenings.",
    "Does somebody know a good shop for a {thing} in {town}?",
    "Small update: the {thing} runs again, the fuse was the problem. Thanks for the help!",
    "Which {thing} would you recommend for a beginner? My budget is {number} euros.",
    "Good morning from {town}. Rain again, so there is time for the {thing}.",
];

const DOUBTFUL_LISTINGS: &[&str] = &[
    "{thing} in {town}, please call me at 555-01{number} in the evening.",
    "Cheap {thing}, only today. Text me: 555-02{number}.",
    "Make money fast with a {thing}! Ask me how, I started in {town}.",
];

const DOUBTFUL_POSTS: &[&str] = &[
    "PLEASE READ THE RULES BEFORE YOU ASK ABOUT THE {number}TH TIME",
    "You are an idiot if you buy that {thing}.",
    "Earn money online with your {thing}, I made {number} euros in {town}.",
    "WHY DOES NOBODY ANSWER my question about the {thing}?",
];

const REFUSED_LISTINGS: &[&str] = &[
    "Replica watch, looks like the real one. {number} euros, {town}.",
    "Pay at https://pay-direct.example/order/{number} and I will send the {thing} tomorrow.",
    "Fake designer bag, comes with a free {thing}.",
    "C0unterfeit tickets for the fair in {town}, {number} euros.",
];

const REFUSED_POSTS: &[&str] = &[
    "Only a dimwit would put a {thing} there.",
    "What a n.i.t.w.i.t, that {thing} was mine.",
    "Typical blockhead answer, for the {number}th time.",
];

const COUPONS: &[&str] = &[
    "Every {thing} for half the price: http://coupon-burst.example/c/{number}",
    "I got a {thing} for nothing, look: coupon-burst.example/{number}",
    "{number} coupons left for {town}! https://www.coupon-burst.example/",
];

const THINGS: &[&str] = &[
    "bicycle",
    "bookshelf",
    "record player",
    "garden table",
    "sewing machine",
    "desk lamp",
    "tent",
    "guitar",
    "coffee grinder",
    "typewriter",
    "model railway",
    "telescope",
    "pottery wheel",
    "radio",
    "rowing boat",
];

const TOWNS: &[&str] = &[
    "Northfield",
    "Elmbridge",
    "Sandport",
    "Oakwell",
    "Riverton",
    "Hillcross",
    "Lakeside",
];

pub(super) fn text(place: Place, kind: Kind, chance: &mut Chance) -> String {
    let templates = match (kind, place) {
        (Kind::Ordinary, Place::Marketplace) => LISTINGS,
        (Kind::Ordinary, Place::Forum) => POSTS,
        (Kind::Doubtful, Place::Marketplace) => DOUBTFUL_LISTINGS,
        (Kind::Doubtful, Place::Forum) => DOUBTFUL_POSTS,
        (Kind::Refused, Place::Marketplace) => REFUSED_LISTINGS,
        (Kind::Refused, Place::Forum) => REFUSED_POSTS,
        (Kind::Coupons, _) => COUPONS,
    };
    chance
        .pick(templates)
        .replace("{thing}", chance.pick(THINGS))
        .replace("{town}", chance.pick(TOWNS))
        .replace("{number}", &(10 + chance.below(90)).to_string())
}

/// How far the example goes back.
pub(super) const SPAN: Duration = Duration::from_hours(7 * 24);

/// How many items there are, besides the coupons.
const ITEMS: u32 = 2_930;
/// How many coupons came, all on the forum, and how many hours ago that began.
const COUPON_COUNT: u32 = 70;
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
    planned.extend((0..COUPON_COUNT).map(|_| Planned {
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

/// Numbers that look random and are the same each time, so that everybody sees the same example: `SplitMix64`, as in Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(super) fn below(&mut self, end: u32) -> u32 {
        u32::try_from(self.next() % u64::from(end)).unwrap_or(0)
    }

    /// Whether something happens that happens `permille` times in a thousand.
    pub(super) fn happens(&mut self, permille: u32) -> bool {
        self.below(1_000) < permille
    }

    pub(super) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let place = self.below(u32::try_from(from.len()).unwrap_or(u32::MAX).max(1));
        from.get(place as usize).copied().unwrap_or_default()
    }
}
