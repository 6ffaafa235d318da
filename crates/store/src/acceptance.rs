//! An acceptance that the application has not been told of yet. The item's job carries it
//! ([`jobs`](crate::jobs)), and [`created`](crate::created_event) tells it.

use domain::id::{EndpointId, EventId, MediaId};
use uuid::Uuid;

/// An acceptance to tell, unless it was told before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// The item.
    pub media: MediaId,
    /// The endpoints that wanted to be told when it was accepted.
    pub endpoints: Vec<EndpointId>,
}

impl Created {
    /// The id of its event.
    pub(crate) fn event(&self) -> Uuid {
        EventId::of_acceptance(self.media).as_uuid()
    }

    /// Its endpoints as the text of an array, because arrays of arrays of different lengths cannot
    /// be bound.
    pub(crate) fn endpoints_as_text(&self) -> String {
        let endpoints: Vec<String> = self.endpoints.iter().map(ToString::to_string).collect();
        format!("{{{}}}", endpoints.join(","))
    }
}
