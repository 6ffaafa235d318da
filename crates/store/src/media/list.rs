//! Lists of media, newest first.
//!
//! There is no index on the status, so that storing a verdict updates no index. A page with a
//! filter that no index serves looks at a bounded number of rows ([`WALKED`]).
//! Such a page may hold fewer items than its limit, even none, although there is a next page.

mod walks;

use chrono::{DateTime, Utc};
use domain::{
    author::Author,
    id::{MediaId, RuleId, SiteId, TeamId},
    media::{ContentType, ModerationType, Status},
    reach::Reach,
    score::Category,
};
use sqlx::PgConnection;
use uuid::Uuid;

use self::walks::{named, newest, waiting, written};
pub use crate::page::WALKED;
use crate::{Error, page::Walk};

/// Which media. Fields that are `None` filter nothing.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Of this site.
    pub site: Option<SiteId>,
    /// In this state.
    pub status: Option<Status>,
    /// Accepted at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Accepted before this time.
    pub until: Option<DateTime<Utc>>,
    /// With this identifier of the application's own.
    pub app_media_id: Option<String>,
    /// By this author.
    pub author: Option<Author>,
    /// This rule matched when the machine judged.
    pub rule: Option<RuleId>,
    /// A rule matched because of a score of this category when the machine judged. Together with
    /// `rule`, it was this rule.
    pub category: Option<Category>,
}

impl Filter {
    /// Whether every item of a site, or of the one name or author, is wanted.
    fn wants_all(&self) -> bool {
        let Self {
            site: _,
            status,
            since,
            until,
            app_media_id,
            author,
            rule,
            category,
        } = self;
        status.is_none()
            && since.is_none()
            && until.is_none()
            && (app_media_id.is_none() || author.is_none())
            && rule.is_none()
            && category.is_none()
    }
}

/// A part of the list.
#[derive(Clone, Debug)]
pub struct Page {
    /// At most as many as were asked for.
    pub media: Vec<Listed>,
    /// After which item the next page begins; none on the last one.
    pub next: Option<MediaId>,
}

/// An item in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The item.
    pub media: MediaId,
    /// Its site.
    pub site: SiteId,
    /// The site's name.
    pub site_name: String,
    /// The application's own identifier.
    pub app_media_id: Option<String>,
    /// Its author, from the metadata.
    pub author: Option<String>,
    /// What was submitted.
    pub content_type: ContentType,
    /// The first [`BEGINNING`] characters of its text.
    pub beginning: Option<String>,
    /// Its status.
    pub status: Status,
    /// The number of the verdict in force; none while pending.
    pub verdict: Option<i16>,
    /// Who or what decided last; none while pending.
    pub moderation_type: Option<ModerationType>,
    /// The name of the person who decided last, or of the token; none if no person did.
    pub moderator: Option<String>,
    /// Whether the verdict in force is the machine's, and something was not checked.
    pub is_unchecked: bool,
    /// When it was accepted.
    pub created_at: DateTime<Utc>,
    /// When it was decided last; none while pending.
    pub moderated_at: Option<DateTime<Utc>>,
}

/// How many characters of a text a list has.
pub const BEGINNING: i32 = 160;

/// At most `limit` media within reach that are older than `after`. A site beyond reach has none.
/// Run it in a transaction that sees one moment.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    filter: &Filter,
    after: Option<MediaId>,
    limit: usize,
) -> Result<Page, Error> {
    let sites = sites(conn, reach, filter.site).await?;
    let walk = Walk::new(
        sites,
        (filter.since, filter.until),
        after.map(MediaId::as_uuid),
        limit,
        filter.wants_all(),
    );
    let steps = match (&filter.app_media_id, &filter.author, filter.status) {
        (Some(app_media_id), _, _) => named(conn, &walk, filter, app_media_id).await?,
        (None, Some(_), _) => written(conn, &walk, filter).await?,
        (None, None, Some(Status::PendingReview)) => waiting(conn, &walk, filter).await?,
        (None, None, Some(Status::Pending | Status::Approved | Status::Rejected) | None) => {
            newest(conn, &walk, filter).await?
        }
    };
    let (found, next) = walk.found(&steps);
    let media = if found.is_empty() {
        Vec::new()
    } else {
        describe(conn, &found).await?
    };
    Ok(Page {
        media,
        next: next.map(MediaId::from),
    })
}

/// The items that wait for a person.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// How many were counted.
    pub counted: usize,
    /// Whether there may be more.
    pub has_more: bool,
    /// When the oldest of the counted ones was accepted. They are the newest, if there are more.
    pub oldest: Option<DateTime<Utc>>,
}

/// Counts the items within reach that wait for a person, or those of one site, up to `limit`. Run it in a transaction
/// that sees one moment.
pub async fn count_waiting(
    conn: &mut PgConnection,
    reach: Reach,
    site: Option<SiteId>,
    limit: usize,
) -> Result<Waiting, Error> {
    let filter = Filter {
        site,
        status: Some(Status::PendingReview),
        ..Filter::default()
    };
    let sites = sites(conn, reach, site).await?;
    let walk = Walk::new(sites, (None, None), None, limit, filter.wants_all());
    let (found, next) = walk.found(&waiting(conn, &walk, &filter).await?);
    let oldest = match found.last() {
        Some(oldest) => accepted_at(conn, *oldest).await?,
        None => None,
    };
    Ok(Waiting {
        counted: found.len(),
        has_more: next.is_some(),
        oldest,
    })
}

async fn accepted_at(
    conn: &mut PgConnection,
    media: Uuid,
) -> Result<Option<DateTime<Utc>>, sqlx::Error> {
    sqlx::query_scalar!("select created_at from media where id = $1", media)
        .fetch_optional(conn)
        .await
}

/// The sites whose media are listed.
async fn sites(
    conn: &mut PgConnection,
    reach: Reach,
    site: Option<SiteId>,
) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "select id from sites where ($1::uuid is null or team_id = $1) and ($2::uuid is null or id = $2)",
        reach.team().map(TeamId::as_uuid),
        site.map(SiteId::as_uuid),
    )
    .fetch_all(conn)
    .await
}

/// The items of these ids, newest first.
async fn describe(conn: &mut PgConnection, found: &[Uuid]) -> Result<Vec<Listed>, Error> {
    let rows = sqlx::query!(
        r#"
        select
            m.id,
            m.site_id,
            s.name as site_name,
            m.app_media_id,
            m.author,
            m.content_type,
            left(m.body, $2) as beginning,
            m.status,
            m.verdict,
            m.created_at,
            v.moderation_type as "moderation_type?",
            coalesce(v.trace #>> '{moderator,member_name}', v.trace #>> '{moderator,token_name}') as moderator,
            coalesce(
                json_array_length(case when json_typeof(v.trace -> 'unchecked') = 'array' then v.trace -> 'unchecked' end) > 0,
                false
            ) as "is_unchecked!",
            v.moderated_at as "moderated_at?"
        from media m
        join sites s on s.id = m.site_id
        left join verdicts v on v.media_id = m.id and v.number = m.verdict
        where m.id = any($1)
        order by m.id desc
        "#,
        found,
        BEGINNING,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Listed {
                media: row.id.into(),
                site: row.site_id.into(),
                site_name: row.site_name,
                app_media_id: row.app_media_id,
                author: row.author,
                content_type: row.content_type.parse()?,
                beginning: row.beginning,
                status: row.status.parse()?,
                verdict: row.verdict,
                moderation_type: row.moderation_type.map(|text| text.parse()).transpose()?,
                moderator: row.moderator,
                is_unchecked: row.is_unchecked,
                created_at: row.created_at,
                moderated_at: row.moderated_at,
            })
        })
        .collect()
}
