//! The texts, from templates. Nobody's words, and no word that hurts.

use super::random::Chance;

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

/// A text of this kind.
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
