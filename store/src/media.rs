//! Media as people and tools see them: lists, one item with its whole history, its image, and a person's decision.
//!
//! Every function takes the caller's [`Reach`](domain::reach::Reach). What is beyond it does not exist.

mod decide;
mod history;
mod image;
mod item;
mod list;
mod walk;

pub use self::{
    decide::{Decided, Decision, decide, site_of, standing},
    history::{Delivery, Event, Verdict},
    image::{Image, KnownImage, SLICE, image, image_slice},
    item::{Analysis, Item, PinnedVersion, find},
    list::{Filter, Listed, Page, list},
    walk::WALKED,
};
