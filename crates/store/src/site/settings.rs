//! Sites as their teams see and change them. (What a submission needs to know of a site is in
//! [`super::Sites`].)

use chrono::{DateTime, Utc};
use domain::{
    id::{ClosureId, RuleGroupId, SiteId, TeamId},
    image::ImageRetentionDays,
    media::{
        CompatUnchecked, ContentRetentionDays, ItemRetentionDays, OnFailure, StatusVocabulary,
    },
    metadata_pointer::MetadataPointer,
    plan::PerMinute,
    policy::{AnswerCacheSeconds, Policy},
    reach::Reach,
    webhook::WebhookRetentionDays,
};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, page::Page, provider_answers, site::NAME_KEY};

/// A site. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct ManagedSite {
    /// The site.
    pub id: SiteId,
    /// Its team.
    #[serde(rename = "team_id")]
    pub team: TeamId,
    /// What its team may change.
    #[serde(flatten)]
    pub settings: Settings,
    /// The closure that closes it, or has closed it; none while it is open.
    #[serde(rename = "closure_id")]
    pub closure: Option<ClosureId>,
    /// Since when it cannot be opened again; none before.
    #[serde(serialize_with = "domain::event::iso8601_or_null")]
    pub closed_at: Option<DateTime<Utc>>,
    /// When it was created.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
}

/// What a team may change about a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// Its name; no two sites of a team have the same.
    pub name: String,
    /// What happens to content that could not be checked.
    pub on_failure: OnFailure,
    /// How status queries spell the status.
    pub status_vocabulary: StatusVocabulary,
    /// The providers that get its texts, in its order of preference; none means the operator's
    /// order.
    pub providers: Option<Vec<String>>,
    /// The policy for models that judge by a policy; none means the policy of the operator's
    /// configuration.
    pub policy: Option<Policy>,
    /// How long providers' answers are reused for equal texts; none: never.
    pub answer_cache_seconds: Option<AnswerCacheSeconds>,
    /// Where the metadata of its items has their author; none: they have none. It counts for items
    /// that are accepted later.
    pub author_pointer: Option<MetadataPointer>,
    /// Whether the endpoints for clients of other services keep items. If not, an item is removed soon
    /// after its verdict, and nobody is told of it.
    pub compat_store: bool,
    /// What clients of OpenAI get for content of which something could not be checked.
    pub compat_unchecked: CompatUnchecked,
    /// Submissions of each key in each UTC minute; none, or more than the plan allows, means the
    /// plan's limit.
    pub submissions_per_minute: Option<PerMinute>,
    /// Status queries of each key in each UTC minute; the same applies.
    pub status_queries_per_minute: Option<PerMinute>,
    /// How long items are kept after the last verdict, with all that belongs to them; none: for ever.
    /// An item stays while its events do, while it waits for a person, and while its answer is known
    /// to the desk.
    pub item_retention_days: Option<ItemRetentionDays>,
    /// The same for the content of items: text, metadata, image, notes. What is known of them stays;
    /// none: the content is kept as long as the item.
    pub content_retention_days: Option<ContentRetentionDays>,
    /// How long files of images are kept after the last verdict. What is known of them stays.
    pub image_retention_days: ImageRetentionDays,
    /// How long events, deliveries that have ended and their attempts are kept.
    pub webhook_retention_days: WebhookRetentionDays,
    /// The group that judges when no other does.
    #[serde(rename = "default_rule_group_id")]
    pub default_rule_group: RuleGroupId,
    /// The groups that judge together, in the order in which they do, which is that of their
    /// creation.
    #[serde(rename = "rule_group_ids")]
    pub rule_groups: Vec<RuleGroupId>,
}

impl Settings {
    /// The usual settings under this name.
    pub fn named(name: String, default_rule_group: RuleGroupId) -> Self {
        Self {
            name,
            on_failure: OnFailure::Review,
            status_vocabulary: StatusVocabulary::State,
            providers: None,
            policy: None,
            answer_cache_seconds: None,
            author_pointer: None,
            compat_store: true,
            compat_unchecked: CompatUnchecked::Flag,
            submissions_per_minute: None,
            status_queries_per_minute: None,
            item_retention_days: None,
            content_retention_days: None,
            image_retention_days: ImageRetentionDays::of::<30>(),
            webhook_retention_days: WebhookRetentionDays::of::<30>(),
            default_rule_group,
            rule_groups: Vec::new(),
        }
    }
}

struct Row {
    id: Uuid,
    team_id: Uuid,
    name: String,
    on_failure: String,
    status_vocabulary: String,
    providers: Option<Vec<String>>,
    policy: Option<String>,
    answer_cache_seconds: Option<i32>,
    author_pointer: Option<String>,
    compat_store: bool,
    compat_unchecked: String,
    submissions_per_minute: Option<i32>,
    status_queries_per_minute: Option<i32>,
    item_retention_days: Option<i32>,
    content_retention_days: Option<i32>,
    image_retention_days: i32,
    webhook_retention_days: i32,
    default_rule_group_id: Uuid,
    closure_id: Option<Uuid>,
    closed_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    rule_groups: Vec<Uuid>,
}

impl TryFrom<Row> for ManagedSite {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        let (id, kept) = (row.id, "the retention");
        Ok(Self {
            id: id.into(),
            team: row.team_id.into(),
            settings: Settings {
                submissions_per_minute: number(id, "a limit", row.submissions_per_minute)?,
                status_queries_per_minute: number(id, "a limit", row.status_queries_per_minute)?,
                name: row.name,
                on_failure: row.on_failure.parse()?,
                status_vocabulary: row.status_vocabulary.parse()?,
                providers: row.providers,
                policy: row
                    .policy
                    .map(|text| valid(id, "the policy", text))
                    .transpose()?,
                answer_cache_seconds: number(id, "the answer cache", row.answer_cache_seconds)?,
                author_pointer: row
                    .author_pointer
                    .map(|text| valid(id, "the author pointer", text))
                    .transpose()?,
                compat_store: row.compat_store,
                compat_unchecked: row.compat_unchecked.parse()?,
                item_retention_days: number(id, kept, row.item_retention_days)?,
                content_retention_days: number(id, kept, row.content_retention_days)?,
                image_retention_days: valid(id, kept, i64::from(row.image_retention_days))?,
                webhook_retention_days: valid(id, kept, i64::from(row.webhook_retention_days))?,
                default_rule_group: row.default_rule_group_id.into(),
                rule_groups: row.rule_groups.into_iter().map(RuleGroupId::from).collect(),
            },
            closure: row.closure_id.map(ClosureId::from),
            closed_at: row.closed_at,
            created_at: row.created_at,
        })
    }
}

/// A value that was stored for a site, which must be valid.
fn valid<V, T>(site: Uuid, what: &str, stored: V) -> Result<T, Error>
where
    T: TryFrom<V>,
    T::Error: std::fmt::Display,
{
    T::try_from(stored).map_err(|error| Error::Unreadable(format!("{what} of site {site} {error}")))
}

/// The same of a number, if there is one.
fn number<T>(site: Uuid, what: &str, stored: Option<i32>) -> Result<Option<T>, Error>
where
    T: TryFrom<i64>,
    T::Error: std::fmt::Display,
{
    stored
        .map(|number| valid(site, what, i64::from(number)))
        .transpose()
}

/// The sites that meet a condition.
macro_rules! select {
    ($conn:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query_as!(
            Row,
            r#"
        select
            id, team_id, name, on_failure, status_vocabulary, providers, policy, answer_cache_seconds, submissions_per_minute,
            author_pointer, compat_store, compat_unchecked, status_queries_per_minute, item_retention_days, content_retention_days, image_retention_days,
            webhook_retention_days, default_rule_group_id, closure_id, closed_at, created_at,
            array(
                select g.id
                from site_rule_groups a
                join rule_groups g on g.id = a.rule_group_id
                where a.site_id = s.id
                order by g.created_at, g.id
            ) as "rule_groups!"
        from sites s
        where "#
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(ManagedSite::try_from)
        .collect::<Result<Vec<_>, Error>>()
    };
}

/// A site; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    site: SiteId,
) -> Result<Option<ManagedSite>, Error> {
    let found = select!(
        conn,
        "id = $1 and ($2::uuid is null or team_id = $2)",
        site.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found?.pop())
}

/// A site, locked so that nobody else changes it or its keys until the transaction ends; none if
/// there is none within reach.
pub async fn lock(
    conn: &mut PgConnection,
    reach: Reach,
    site: SiteId,
) -> Result<Option<ManagedSite>, Error> {
    let locked = sqlx::query_scalar!(
        "select id from sites where id = $1 and ($2::uuid is null or team_id = $2) for no key update",
        site.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    match locked {
        // It is read after the lock, so that it shows the changes that the lock waited for, with
        // newly attached groups.
        Some(_) => find(conn, reach, site).await,
        None => Ok(None),
    }
}

/// Sites within reach, the oldest first, without those that are closed for good.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    page: Page,
) -> Result<Vec<ManagedSite>, Error> {
    select!(
        conn,
        "($1::uuid is null or team_id = $1) and ($2::uuid is null or id > $2) and closed_at is null
        order by id
        limit $3",
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit
    )
}

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
    sqlx::query!(
        "delete from site_rule_groups where site_id = $1 and rule_group_id <> all($2)",
        site.as_uuid(),
        &groups,
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "
        insert into site_rule_groups (site_id, rule_group_id)
        select $1, unnest($2::uuid [])
        on conflict on constraint site_rule_groups_pkey do nothing
        ",
        site.as_uuid(),
        &groups,
    )
    .execute(conn)
    .await?;
    Ok(())
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

/// Those of these groups that belong to the team. They are locked until the transaction ends.
pub async fn own_groups(
    conn: &mut PgConnection,
    team: TeamId,
    groups: &[RuleGroupId],
) -> Result<Vec<RuleGroupId>, Error> {
    let groups: Vec<Uuid> = groups.iter().map(|group| group.as_uuid()).collect();
    let own = sqlx::query_scalar!(
        "select id from rule_groups where team_id = $1 and id = any($2) and disabled_at is null for key share",
        team.as_uuid(),
        &groups,
    )
    .fetch_all(conn)
    .await?;
    Ok(own.into_iter().map(RuleGroupId::from).collect())
}
