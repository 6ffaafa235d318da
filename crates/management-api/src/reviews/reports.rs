//! Reports of the desk: how much waits, how fast and how well people decide, how the machine compares, and how much people see.

mod csv;
mod exposure;
mod machine;
mod openapi;
mod schemas;

use std::sync::Arc;

use api_common::{field::Time, problem::Refusal, query_parameters::Query, response::Json};
use management::{
    Management,
    reviews::{self, quality},
};
use poem::web::Data;
use poem_openapi::OpenApi;
use uuid::Uuid;

pub(super) use self::openapi::descriptions;
use self::{csv::ReportFile, exposure::ReviewExposure, schemas::ReviewQuality};
use crate::{Tag, caller::Caller};

pub(crate) struct ReviewReports;

#[OpenApi(tag = "Tag::Reviews")]
impl ReviewReports {
    /// Read the desk's reports
    ///
    /// What waits now, and of a span of time: how long decisions took, what each person decided, how far two people agree, how
    /// often a second look overturned a verdict, how often known answers were found, and how the machine compares with people.
    /// Shares have Wilson intervals of 95 %. The span has at most 92 days. At most 50,000 decisions are counted, the latest, and at
    /// most 10,000 items are compared with the machine: `is_complete` says whether these are all.
    #[oai(
        path = "/reviews/quality",
        method = "get",
        operation_id = "getReviewQuality"
    )]
    async fn get_review_quality(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// From this time on. The default is 30 days before `to`.
        from: Query<Time>,
        /// Before this time. The default is now.
        to: Query<Time>,
        /// Only this site.
        site_id: Query<Uuid>,
    ) -> Result<Json<ReviewQuality>, Refusal> {
        let query = wanted(&from, &to, &site_id);
        let quality = quality::quality(&management, &caller, query).await?;
        Ok(Json(quality.into()))
    }

    /// Download the desk's reports
    ///
    /// The figures of `getReviewQuality` as CSV, one figure a line. Texts that a spreadsheet would take for a formula have a `'` in
    /// front.
    #[oai(
        path = "/reviews/quality/csv",
        method = "get",
        operation_id = "downloadReviewQuality"
    )]
    async fn download_review_quality(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// From this time on. The default is 30 days before `to`.
        from: Query<Time>,
        /// Before this time. The default is now.
        to: Query<Time>,
        /// Only this site.
        site_id: Query<Uuid>,
    ) -> Result<ReportFile, Refusal> {
        let query = wanted(&from, &to, &site_id);
        let quality = quality::quality(&management, &caller, query).await?;
        Ok(ReportFile::new(quality::csv(&quality)))
    }

    /// Read how much people have seen
    ///
    /// How many reviews each person has decided, and how many pictures they have uncovered, by day (UTC). Somebody with the scope
    /// `reviews:manage` sees it of everybody in the team, anybody else only of themselves. At most 92 days, and 10,000 rows.
    #[oai(
        path = "/reviews/exposure",
        method = "get",
        operation_id = "getReviewExposure"
    )]
    async fn get_review_exposure(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// From the day that contains this time on. The default is 30 days before `to`.
        from: Query<Time>,
        /// To the end of the day that contains this time. The default is today.
        to: Query<Time>,
    ) -> Result<Json<ReviewExposure>, Refusal> {
        let (from, to) = (from.0.map(|time| time.0), to.0.map(|time| time.0));
        let exposures = reviews::exposures(&management, &caller, from, to).await?;
        Ok(Json(exposures.into()))
    }
}

fn wanted(from: &Query<Time>, to: &Query<Time>, site: &Query<Uuid>) -> quality::Query {
    quality::Query {
        site: site.0.map(Into::into),
        from: from.0.as_ref().map(|time| time.0),
        to: to.0.as_ref().map(|time| time.0),
    }
}
