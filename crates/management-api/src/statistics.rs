//! Statistics: figures by hour and day.

mod openapi;
mod schemas;

use std::sync::Arc;

use api_common::{field::Time, problem::Refusal, query_parameters::Query, response::Json};
use domain::statistics::Interval;
use management::{
    Management,
    statistics::{self, Query as Wanted},
};
use poem::web::Data;
use poem_openapi::OpenApi;
use uuid::Uuid;

use self::schemas::StatisticsReport;
use super::{Tag, caller::Caller};

pub(super) use self::openapi::descriptions;

pub(crate) struct Statistics;

#[OpenApi(tag = "Tag::Statistics")]
impl Statistics {
    /// Read statistics
    ///
    /// Returns how many items were accepted, how they were decided and by whom, how long they waited for a moderator,
    /// and how webhooks were delivered: by hour or by day, in UTC. Without `site_id`, the figures are those of the
    /// token's team, or of all teams for an operator.
    ///
    /// The figures are a minute or two old: `counted_until` is the time until which they are complete. They are kept for
    /// 400 days, longer than items and events, because they contain no content.
    #[oai(path = "/statistics", method = "get", operation_id = "getStatistics")]
    async fn get_statistics(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// Only this site.
        site_id: Query<Uuid>,
        /// The figures begin with the hour or day that contains this time. By default, they cover 24 hours or 30 days.
        /// They cover at most 31 days by hour, and 400 days by day.
        from: Query<Time>,
        /// The figures end before this time, rounded up to a whole hour or day. The default is now.
        to: Query<Time>,
        /// The length of a bucket. The default is `day`.
        interval: Query<Interval>,
    ) -> Result<Json<StatisticsReport>, Refusal> {
        let wanted = Wanted {
            site: site_id.0.map(Into::into),
            from: from.0.map(|time| time.0),
            to: to.0.map(|time| time.0),
            interval: interval.0.unwrap_or(Interval::Day),
        };
        let answer = statistics::get(&management, &caller, wanted).await?;
        Ok(Json(StatisticsReport::new(wanted, answer)))
    }
}
