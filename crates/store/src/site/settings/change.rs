//! Giving a site other settings.

use domain::{
    id::SiteId,
    media::{ContentRetentionDays, ItemRetentionDays},
    metadata_pointer::MetadataPointer,
    plan::PerMinute,
    policy::AnswerCacheSeconds,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{
    Settings,
    groups::{attach, detach_others},
};
use crate::{Error, provider_answers, site::NAME_KEY};

/// Gives a site other settings. Run it in a transaction that has locked the site and whose groups
/// are the team's own.
///
/// # Errors
/// [`Error::NameTaken`].
pub async fn change(
    conn: &mut PgConnection,
    site: SiteId,
    settings: &Settings,
) -> Result<(), Error> {
    update(conn, site, settings).await?;
    if settings.answer_cache_seconds.is_none() {
        provider_answers::forget_of_site(conn, site).await?;
    }
    let groups: Vec<Uuid> = settings
        .rule_groups
        .iter()
        .map(|group| group.as_uuid())
        .collect();
    detach_others(conn, site, &groups).await?;
    attach(conn, site, &groups).await
}

async fn update(conn: &mut PgConnection, site: SiteId, settings: &Settings) -> Result<(), Error> {
    sqlx::query!(
        "
        update sites
        set
            name = $2,
            on_failure = $3,
            status_vocabulary = $4,
            submissions_per_minute = $5::bigint,
            status_queries_per_minute = $6::bigint,
            default_rule_group_id = $7,
            providers = $8::text [],
            policy = $9,
            image_retention_days = $10::bigint,
            webhook_retention_days = $11::bigint,
            answer_cache_seconds = $12::bigint,
            author_pointer = $13,
            item_retention_days = $14::bigint,
            content_retention_days = $15::bigint,
            compat_store = $16,
            compat_unchecked = $17
        where id = $1
        ",
        site.as_uuid(),
        settings.name,
        settings.on_failure.as_str(),
        settings.status_vocabulary.as_str(),
        settings.submissions_per_minute.map(PerMinute::get),
        settings.status_queries_per_minute.map(PerMinute::get),
        settings.default_rule_group.as_uuid(),
        settings.providers.as_deref(),
        settings.policy.clone().map(String::from),
        settings.image_retention_days.get(),
        settings.webhook_retention_days.get(),
        settings.answer_cache_seconds.map(AnswerCacheSeconds::get),
        settings
            .author_pointer
            .as_ref()
            .map(MetadataPointer::as_str),
        settings.item_retention_days.map(ItemRetentionDays::get),
        settings
            .content_retention_days
            .map(ContentRetentionDays::get),
        settings.compat_store,
        settings.compat_unchecked.as_str(),
    )
    .execute(conn)
    .await
    .map_err(Error::on_violation(NAME_KEY, Error::NameTaken))?;
    Ok(())
}
