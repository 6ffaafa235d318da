//! A plan's row.

use chrono::{DateTime, Utc};
use domain::{
    bounded_integer::{BoundedInteger, OutOfBounds},
    name::Name,
    plan::{Limits, PerPeriod},
};
use uuid::Uuid;

use super::{Plan, Terms};
use crate::Error;

pub(super) struct Row {
    pub(super) id: Uuid,
    pub(super) name: String,
    pub(super) submissions_per_period: Option<i64>,
    pub(super) deliveries_per_period: Option<i64>,
    pub(super) submissions_per_minute: i32,
    pub(super) status_queries_per_minute: i32,
    pub(super) team_submissions_per_minute: Option<i32>,
    pub(super) team_status_queries_per_minute: Option<i32>,
    pub(super) endpoints_per_site: i32,
    pub(super) sites_per_team: i32,
    pub(super) site_keys_per_team: i32,
    pub(super) management_tokens_per_team: i32,
    pub(super) rule_groups_per_team: i32,
    pub(super) hash_lists_per_team: i32,
    pub(super) created_at: DateTime<Utc>,
}

impl TryFrom<Row> for Plan {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        let unreadable =
            |error: &dyn std::fmt::Display| Error::Unreadable(format!("plan {} {error}", row.id));
        let name = row.name.parse().map_err(|error| unreadable(&error))?;
        let terms = row.terms(name).map_err(|error| unreadable(&error))?;
        Ok(Self {
            id: row.id.into(),
            terms,
            created_at: row.created_at,
        })
    }
}

impl Row {
    fn terms(&self, name: Name) -> Result<Terms, OutOfBounds> {
        Ok(Terms {
            name,
            submissions_per_period: self
                .submissions_per_period
                .map(PerPeriod::try_from)
                .transpose()?,
            deliveries_per_period: self
                .deliveries_per_period
                .map(PerPeriod::try_from)
                .transpose()?,
            submissions_per_minute: whole(self.submissions_per_minute)?,
            status_queries_per_minute: whole(self.status_queries_per_minute)?,
            team_submissions_per_minute: self.team_submissions_per_minute.map(whole).transpose()?,
            team_status_queries_per_minute: self
                .team_status_queries_per_minute
                .map(whole)
                .transpose()?,
            limits: Limits {
                endpoints_per_site: whole(self.endpoints_per_site)?,
                sites_per_team: whole(self.sites_per_team)?,
                site_keys_per_team: whole(self.site_keys_per_team)?,
                management_tokens_per_team: whole(self.management_tokens_per_team)?,
                rule_groups_per_team: whole(self.rule_groups_per_team)?,
                hash_lists_per_team: whole(self.hash_lists_per_team)?,
            },
        })
    }
}

fn whole<const MIN: i64, const MAX: i64>(
    number: i32,
) -> Result<BoundedInteger<MIN, MAX>, OutOfBounds> {
    i64::from(number).try_into()
}
