//! Sites as their teams see and change them. (What a submission needs to know of a site is in [`super::Sites`].)

use chrono::{DateTime, Utc};
use domain::{
    id::{RuleGroupId, SiteId, TeamId},
    image::ImageRetentionDays,
    media::{OnFailure, StatusVocabulary},
    plan::PerMinute,
    policy::{AnswerCacheSeconds, Policy},
    reach::Reach,
    webhook::WebhookRetentionDays,
    whole::OutOfBounds,
};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::NAME_KEY;
use crate::{Error, answers, page::Page};

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
    /// The providers that its texts go to, in the order of its preference; none is the operator's order.
    pub providers: Option<Vec<String>>,
    /// What models that judge by a policy are told; none is what the operator's configuration says.
    pub policy: Option<Policy>,
    /// For how long providers' answers hold for equal texts; none: every text is shown to them.
    pub answer_cache_seconds: Option<AnswerCacheSeconds>,
    /// Submissions of each key in each UTC minute; none, or more than the plan allows, is what the plan allows.
    pub submissions_per_minute: Option<PerMinute>,
    /// Status queries of each key in each UTC minute; likewise.
    pub status_queries_per_minute: Option<PerMinute>,
    /// How long files of images are kept after the last verdict. What is known of them stays.
    pub image_retention_days: ImageRetentionDays,
    /// How long events, deliveries that have ended and their attempts are kept.
    pub webhook_retention_days: WebhookRetentionDays,
    /// The group that judges when no other does.
    #[serde(rename = "default_rule_group_id")]
    pub default_rule_group: RuleGroupId,
    /// The groups that judge together, in the order in which they do, which is that of their creation.
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
            submissions_per_minute: None,
            status_queries_per_minute: None,
            image_retention_days: ImageRetentionDays::of::<30>(),
            webhook_retention_days: WebhookRetentionDays::of::<30>(),
            default_rule_group,
            rule_groups: Vec::new(),
        }
    }
}

/// A site; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    site: SiteId,
) -> Result<Option<ManagedSite>, Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select
            id, team_id, name, on_failure, status_vocabulary, providers, policy, answer_cache_seconds, submissions_per_minute,
            status_queries_per_minute, image_retention_days, webhook_retention_days, default_rule_group_id, created_at,
            array(
                select g.id
                from site_rule_groups a
                join rule_groups g on g.id = a.rule_group_id
                where a.site_id = s.id
                order by g.created_at, g.id
            ) as "rule_groups!"
        from sites s
        where id = $1 and ($2::uuid is null or team_id = $2)
        "#,
        site.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(ManagedSite::try_from).transpose()
}

/// A site that nobody else changes, nor its keys, until the transaction ends; none if there is none, or if it is beyond
/// reach.
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
        // Read only now: what was waited for is seen whole, with the groups that somebody attached.
        Some(_) => find(conn, reach, site).await,
        None => Ok(None),
    }
}

/// Sites within reach, the oldest first.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    page: Page,
) -> Result<Vec<ManagedSite>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select
            id, team_id, name, on_failure, status_vocabulary, providers, policy, answer_cache_seconds, submissions_per_minute,
            status_queries_per_minute, image_retention_days, webhook_retention_days, default_rule_group_id, created_at,
            array(
                select g.id
                from site_rule_groups a
                join rule_groups g on g.id = a.rule_group_id
                where a.site_id = s.id
                order by g.created_at, g.id
            ) as "rule_groups!"
        from sites s
        where ($1::uuid is null or team_id = $1) and ($2::uuid is null or id > $2)
        order by id
        limit $3
        "#,
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(ManagedSite::try_from).collect()
}

/// Those of these groups that are the team's. They stay until the transaction ends.
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

/// Gives a site other settings. Run it in a transaction that has locked the site and whose groups are the team's own.
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
        answers::forget_of_site(conn, site).await?;
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
            answer_cache_seconds = $12::bigint
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
    )
    .execute(conn)
    .await
    .map_err(Error::on_violation(NAME_KEY, Error::NameTaken))?;
    Ok(())
}

async fn detach_others(
    conn: &mut PgConnection,
    site: SiteId,
    groups: &[Uuid],
) -> Result<(), Error> {
    sqlx::query!(
        "delete from site_rule_groups where site_id = $1 and rule_group_id <> all($2)",
        site.as_uuid(),
        groups,
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn attach(conn: &mut PgConnection, site: SiteId, groups: &[Uuid]) -> Result<(), Error> {
    sqlx::query!(
        "
        insert into site_rule_groups (site_id, rule_group_id)
        select $1, unnest($2::uuid [])
        on conflict on constraint site_rule_groups_pkey do nothing
        ",
        site.as_uuid(),
        groups,
    )
    .execute(conn)
    .await?;
    Ok(())
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
    submissions_per_minute: Option<i32>,
    status_queries_per_minute: Option<i32>,
    image_retention_days: i32,
    webhook_retention_days: i32,
    default_rule_group_id: Uuid,
    created_at: DateTime<Utc>,
    rule_groups: Vec<Uuid>,
}

impl TryFrom<Row> for ManagedSite {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        let per_minute = |number: Option<i32>| {
            number
                .map(|number| PerMinute::try_from(i64::from(number)))
                .transpose()
                .map_err(|error| Error::Unreadable(format!("a limit of site {} {error}", row.id)))
        };
        let policy = row.policy.map(|text| {
            Policy::try_from(text).map_err(|error| {
                Error::Unreadable(format!("the policy of site {} {error}", row.id))
            })
        });
        let unreadable = |error: OutOfBounds| {
            Error::Unreadable(format!("the retention of site {} {error}", row.id))
        };
        let answer_cache = row.answer_cache_seconds.map(i64::from);
        let answer_cache = answer_cache.map(AnswerCacheSeconds::try_from).transpose();
        let answer_cache = answer_cache.map_err(|error| {
            Error::Unreadable(format!("the answer cache of site {} {error}", row.id))
        });
        let image_retention = ImageRetentionDays::try_from(i64::from(row.image_retention_days));
        let webhook_retention =
            WebhookRetentionDays::try_from(i64::from(row.webhook_retention_days));
        Ok(Self {
            id: row.id.into(),
            team: row.team_id.into(),
            settings: Settings {
                submissions_per_minute: per_minute(row.submissions_per_minute)?,
                status_queries_per_minute: per_minute(row.status_queries_per_minute)?,
                name: row.name,
                on_failure: row.on_failure.parse()?,
                status_vocabulary: row.status_vocabulary.parse()?,
                providers: row.providers,
                policy: policy.transpose()?,
                answer_cache_seconds: answer_cache?,
                image_retention_days: image_retention.map_err(unreadable)?,
                webhook_retention_days: webhook_retention.map_err(unreadable)?,
                default_rule_group: row.default_rule_group_id.into(),
                rule_groups: row.rule_groups.into_iter().map(RuleGroupId::from).collect(),
            },
            created_at: row.created_at,
        })
    }
}
