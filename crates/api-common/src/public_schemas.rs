//! Schemas of the public interface that the management interface shows, too: verdicts, webhooks and examples.

pub mod examples;
mod moderation_details;
mod webhooks;

pub use self::{
    moderation_details::ModerationDetails,
    webhooks::{Events, MediaCreatedEvent, MediaModeratedEvent, Pings, WebhookTestPingEvent},
};
