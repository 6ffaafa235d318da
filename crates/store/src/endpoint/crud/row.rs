//! An endpoint's row, with its delivery health.

use chrono::{DateTime, Utc};
use domain::{event::EventKind, id::EndpointId};
use uuid::Uuid;

use super::{Endpoint, Settings};
use crate::{
    Error,
    encryption::MasterKey,
    endpoint::{
        headers::{open_headers, required},
        health,
    },
};

pub(super) struct Row {
    pub(super) id: Uuid,
    pub(super) site_id: Uuid,
    pub(super) team_id: Uuid,
    pub(super) url: String,
    pub(super) events: Vec<String>,
    pub(super) description: Option<String>,
    pub(super) max_per_second: Option<i32>,
    pub(super) headers: Option<Vec<u8>>,
    pub(super) created_at: DateTime<Utc>,
    pub(super) disabled_at: Option<DateTime<Utc>>,
    pub(super) disabled_reason: Option<String>,
    pub(super) failing_since: Option<DateTime<Utc>>,
    pub(super) failures: Option<i32>,
    pub(super) openings: Option<i32>,
    pub(super) open_until: Option<DateTime<Utc>>,
    pub(super) probe_until: Option<DateTime<Utc>>,
    pub(super) at: DateTime<Utc>,
    pub(super) waiting: i64,
}

impl Row {
    pub(super) fn open(self, key: Option<&MasterKey>) -> Result<Endpoint, Error> {
        let id = EndpointId::from(self.id);
        let health = health::Row {
            failing_since: self.failing_since,
            failures: self.failures,
            openings: self.openings,
            open_until: self.open_until,
            probe_until: self.probe_until,
            at: self.at,
        };
        let events: Result<Vec<EventKind>, _> =
            self.events.iter().map(|event| event.parse()).collect();
        let headers = match &self.headers {
            Some(sealed) => open_headers(required(key)?, id, sealed)?,
            None => Vec::new(),
        };
        Ok(Endpoint {
            id,
            site: self.site_id.into(),
            team: self.team_id.into(),
            settings: Settings {
                url: self.url,
                events: events?,
                description: self.description,
                max_per_second: self.max_per_second,
                headers,
            },
            created_at: self.created_at,
            disabled_at: self.disabled_at,
            disabled_reason: self.disabled_reason,
            health: health.health(),
            at: self.at,
            waiting: self.waiting,
        })
    }
}
