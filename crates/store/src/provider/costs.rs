//! What providers cost by day: requests, tokens and units, as workers count them.

use sqlx::{PgConnection, PgPool};

use crate::Error;

/// How many days it is kept.
const KEPT_DAYS: i32 = 100;

/// A part of what a provider cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    /// The provider's name.
    pub provider: String,
    /// `text_requests`, `image_requests`, `input_tokens`, `output_tokens`, or a unit that the
    /// provider charges.
    pub what: String,
    /// How many of these.
    pub amount: i64,
}

/// A part of what a provider cost of late.
#[derive(Clone, Debug)]
pub struct Cost {
    /// The provider's name.
    pub provider: String,
    /// As in [`Spent::what`].
    pub what: String,
    /// How many today, in UTC.
    pub today: i64,
    /// How many in 30 days, of which today is the last.
    pub month: i64,
}

/// Adds to what providers cost today. Nothing may be named twice.
pub async fn spend(pool: &PgPool, spent: &[Spent]) -> Result<(), Error> {
    if spent.is_empty() {
        return Ok(());
    }
    let providers: Vec<&str> = spent.iter().map(|of| of.provider.as_str()).collect();
    let whats: Vec<&str> = spent.iter().map(|of| of.what.as_str()).collect();
    let amounts: Vec<i64> = spent.iter().map(|of| of.amount).collect();
    // Workers lock the rows in the same order.
    sqlx::query!(
        "
        insert into provider_costs (provider, day, what, amount)
        select s.provider, (now() at time zone 'utc')::date, s.what, s.amount
        from unnest($1::text [], $2::text [], $3::bigint []) as s (provider, what, amount)
        order by s.provider, s.what
        on conflict (provider, day, what) do update
        set amount = provider_costs.amount + excluded.amount
        ",
        &providers as &[&str],
        &whats as &[&str],
        &amounts,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Forgets what is older than 100 days.
pub(super) async fn forget(conn: &mut PgConnection) -> Result<(), Error> {
    sqlx::query!(
        "delete from provider_costs where day < (now() at time zone 'utc')::date - $1::integer",
        KEPT_DAYS,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// What each provider cost today and in 30 days, by provider and part.
pub async fn costs(conn: &mut PgConnection) -> Result<Vec<Cost>, Error> {
    let costs = sqlx::query_as!(
        Cost,
        r#"
        select
            provider,
            what,
            coalesce(sum(amount) filter (where day = (now() at time zone 'utc')::date), 0)::bigint as "today!",
            sum(amount)::bigint as "month!"
        from provider_costs
        where day > (now() at time zone 'utc')::date - 30
        group by provider, what
        order by provider, what
        "#
    )
    .fetch_all(conn)
    .await?;
    Ok(costs)
}
