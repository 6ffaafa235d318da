//! Media as people and tools see them: lists, one item with its whole history, its image, and a person's decision.
//!
//! Every function takes whose media may be seen: a team's, or, with none, everybody's. What is beyond that is not there.

mod decide;
mod image;
mod item;
mod list;

pub use self::{
    decide::{Decided, Decision, Moderator, decide, standing},
    image::{Image, SLICE, image, image_slice},
    item::{Analysis, Delivery, Event, InlineImage, Item, PinnedVersion, Verdict, find},
    list::{Filter, Listed, Page, WALKED, list},
};
