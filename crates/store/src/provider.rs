//! The providers that workers are configured with, as workers record them, and the state of each.

mod state;

use chrono::{DateTime, Utc};
use domain::score::Category;
use sqlx::{PgConnection, PgPool};

pub use self::state::{CredentialStatus, State, Stated, change, credential_statuses, read};
use crate::Error;

/// A provider that a worker is configured with.
#[derive(Clone, Debug)]
pub struct Registration {
    /// Its name, by which sites choose it.
    pub name: String,
    /// The kind of its interface.
    pub kind: &'static str,
    /// What it can score of texts.
    pub categories: Vec<Category>,
    /// What it can score of images.
    pub image_categories: Vec<Category>,
}

/// A provider as all processes see it.
#[derive(Clone, Debug)]
pub struct KnownProvider {
    /// Its name, by which sites choose it.
    pub name: String,
    /// The kind of its interface.
    pub kind: String,
    /// What it can score of texts.
    pub categories: Vec<Category>,
    /// What it can score of images.
    pub image_categories: Vec<Category>,
    /// Until when it is not asked, because it limits requests or keeps failing; none when it is
    /// asked.
    pub paused_until: Option<DateTime<Utc>>,
    /// When a worker last recorded it.
    pub seen_at: DateTime<Utc>,
}

/// Records this process's providers, in the operator's order, and forgets those that no process
/// recorded for a day.
pub async fn register(pool: &PgPool, providers: &[Registration]) -> Result<(), Error> {
    let mut conn = pool.acquire().await?;
    tell(&mut conn, providers).await?;
    forget(&mut conn).await
}

async fn tell(conn: &mut PgConnection, providers: &[Registration]) -> Result<(), Error> {
    let names: Vec<&str> = providers.iter().map(|p| p.name.as_str()).collect();
    let kinds: Vec<&str> = providers.iter().map(|p| p.kind).collect();
    // Arrays of arrays must all have the same length.
    let joined = |categories: &[Category]| {
        let names: Vec<&str> = categories.iter().map(|c| c.as_str()).collect();
        names.join(",")
    };
    let categories: Vec<String> = providers.iter().map(|p| joined(&p.categories)).collect();
    let image_categories: Vec<String> = providers
        .iter()
        .map(|p| joined(&p.image_categories))
        .collect();
    sqlx::query!(
        "
        insert into providers (name, kind, categories, image_categories, position)
        select p.name, p.kind, string_to_array(p.categories, ','), string_to_array(p.image_categories, ','), p.position
        from unnest($1::text [], $2::text [], $3::text [], $4::text []) with ordinality
        as p (name, kind, categories, image_categories, position)
        order by p.name
        on conflict (name) do update
        set
            kind = excluded.kind, categories = excluded.categories, image_categories = excluded.image_categories,
            position = excluded.position, seen_at = now()
        ",
        &names as &[&str],
        &kinds as &[&str],
        &categories,
        &image_categories,
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn forget(conn: &mut PgConnection) -> Result<(), Error> {
    sqlx::query!(
        "
        with forgotten as (delete from providers where seen_at < now() - interval '1 day')
        delete from provider_states where changed_at < now() - interval '1 day'
        "
    )
    .execute(&mut *conn)
    .await?;
    forget_old_costs(conn).await
}

/// The providers that workers recorded within a day, in the operator's order.
pub async fn list(conn: &mut PgConnection) -> Result<Vec<KnownProvider>, Error> {
    let rows = sqlx::query!(
        r#"
        select
            p.name, p.kind, p.categories, p.image_categories, p.seen_at,
            (
                select max(greatest(s.paused_until, s.open_until, s.probe_until, s.limit_until))
                from provider_states s
                where
                    s.provider = p.name
                    and greatest(s.paused_until, s.open_until, s.probe_until, s.limit_until) > clock_timestamp()
            ) as paused_until
        from providers p
        where p.seen_at >= now() - interval '1 day'
        order by p.position, p.name
        "#
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(KnownProvider {
                name: row.name,
                kind: row.kind,
                categories: categories(&row.categories)?,
                image_categories: categories(&row.image_categories)?,
                paused_until: row.paused_until,
                seen_at: row.seen_at,
            })
        })
        .collect()
}

/// The categories that at least one of the known providers can score, of texts or of images. A rule
/// that asks for another never matches.
pub async fn scorable(conn: &mut PgConnection) -> Result<Vec<Category>, Error> {
    let providers = list(conn).await?;
    let can = |category: &Category| {
        let mut providers = providers.iter();
        providers.any(|p| p.categories.contains(category) || p.image_categories.contains(category))
    };
    Ok(Category::ALL.into_iter().filter(can).collect())
}

/// Categories as they are stored.
pub(crate) fn categories(names: &[String]) -> Result<Vec<Category>, Error> {
    let find = |name: &String| {
        Category::ALL
            .into_iter()
            .find(|category| category.as_str() == name)
            .ok_or_else(|| Error::Unreadable(format!("there is no category {name:?}")))
    };
    names.iter().map(find).collect()
}

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
async fn forget_old_costs(conn: &mut PgConnection) -> Result<(), Error> {
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
