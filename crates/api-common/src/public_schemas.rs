//! Schemas of the public interface that the management interface shows, too: verdicts, webhooks and examples.

mod moderation_details;
mod webhooks;
pub mod examples;

pub use self::{
    moderation_details::ModerationDetails,
    webhooks::{Events, MediaCreatedEvent, MediaModeratedEvent, Pings, WebhookTestPingEvent},
};
