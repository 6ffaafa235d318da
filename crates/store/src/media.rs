//! Media as people and tools see them: lists, one item with its whole history, its image, and a
//! person's decision.
//!
//! Every function takes the caller's [`Reach`](domain::reach::Reach). An item beyond it looks as if
//! it did not exist.

mod decide;
mod history;
mod image;
mod item;
mod list;
pub(crate) mod remove;
pub(crate) mod retention;
pub mod transient;

pub use self::{
    decide::{Decided, Decision, decide, site_of, standing},
    history::{Delivery, Event, Verdict},
    image::{Image, KnownImage, SLICE, image, image_slice, image_standing},
    item::{Analysis, Item, PinnedVersion, find},
    list::{BEGINNING, Filter, Listed, Page, WALKED, Waiting, count_waiting, list},
    retention::{Content, RetentionPreview, retention_preview},
};
pub(crate) use self::{
    decide::{details_of, moderator},
    image::known,
};
