//! Backtests in requests and responses.

use api_common::field::{Field, Time, given};
use domain::id::{GroupVersionId, SiteId};
use management::rule_groups::backtests::{self, Items};
use poem_openapi::Object;
use serde::Deserialize;

/// A backtest to start.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewBacktest {
    /// A version of the group. If omitted, it is the draft as it is now.
    #[serde(default, deserialize_with = "given")]
    version_id: Option<Field<GroupVersionId>>,
    /// Only items of this site. The group judges all of them, as if it had been attached to the site. If omitted, it judges
    /// the items of all sites of the team that it has judged before.
    #[serde(default, deserialize_with = "given")]
    site_id: Option<Field<SiteId>>,
    /// Only items accepted at this time or later.
    #[serde(default, deserialize_with = "given")]
    since: Option<Field<Time>>,
    /// Only items accepted before this time. The default is now.
    #[serde(default, deserialize_with = "given")]
    until: Option<Field<Time>>,
    /// The most items to look at, the newest first. The default is 10,000.
    #[serde(default, deserialize_with = "given")]
    limit: Option<Field<Items>>,
}

impl From<NewBacktest> for backtests::NewBacktest {
    fn from(new: NewBacktest) -> Self {
        Self {
            version: new.version_id.map(|version| version.0),
            site: new.site_id.map(|site| site.0),
            since: new.since.map(|time| time.0.0),
            until: new.until.map(|time| time.0.0),
            limit: new.limit.map(|limit| limit.0),
        }
    }
}
