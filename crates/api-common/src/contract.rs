//! Shapes of the public interface that the management interface shows, too: verdicts, webhooks and examples.

mod details;
mod events;
pub mod examples;

pub use self::{
    details::ModerationDetails,
    events::{Events, MediaCreatedEvent, MediaModeratedEvent, Pings, WebhookTestPingEvent},
};
