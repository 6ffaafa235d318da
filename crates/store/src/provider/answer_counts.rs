//! How often providers answered and failed of late.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use crate::Error;

/// How many of the latest analyses are looked at.
const LATEST: i64 = 500;

/// What a provider did in the latest analyses.
#[derive(Clone, Debug)]
pub struct Recent {
    /// The provider's name.
    pub provider: String,
    /// How often it was asked. Reused answers do not count.
    pub asked: i64,
    /// How often it failed for good.
    pub failed: i64,
    /// The mean time of its answers, in milliseconds; none if it answered nothing.
    pub mean_ms: Option<i64>,
    /// When it failed last.
    pub failed_at: Option<DateTime<Utc>>,
}

/// What the providers did in the latest 500 analyses of all teams, as far as they ended within an
/// hour. Providers that were not asked are left out.
pub async fn recent(conn: &mut PgConnection) -> Result<Vec<Recent>, Error> {
    let recent = sqlx::query_as!(
        Recent,
        r#"
        with latest as (
            select providers, created_at from analyses order by media_id desc limit $1
        )
        select
            r.report ->> 'provider' as "provider!",
            count(*) as "asked!",
            count(*) filter (where r.report ->> 'failure' is not null) as "failed!",
            (avg((r.report ->> 'elapsed_ms')::bigint) filter (where r.report ->> 'failure' is null))::bigint as mean_ms,
            max(l.created_at) filter (where r.report ->> 'failure' is not null) as failed_at
        from latest l
        cross join json_array_elements(l.providers) as r (report)
        where
            l.created_at >= now() - interval '1 hour'
            and r.report ->> 'provider' is not null
            and r.report ->> 'cached_from' is null
        group by 1
        "#,
        LATEST,
    )
    .fetch_all(conn)
    .await?;
    Ok(recent)
}
