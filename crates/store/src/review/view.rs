//! What a person sees of a review: the item, why the machine asks, and what is known around it.

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, MediaId, ReviewId, ReviewPolicyId, SiteId, TeamId},
    media::{ContentType, Ruling, Status},
    review::{ReviewKind, Severity, Tier},
};
use serde_json::value::RawValue;
use sqlx::{PgConnection, types::Json};

use super::tier;
use crate::{
    Error,
    media::{KnownImage, Verdict, known},
};

/// At most this many earlier items of an author are counted.
const COUNTED: i64 = 100;

/// A review.
#[derive(Debug)]
pub struct Review {
    /// The review.
    pub id: ReviewId,
    /// The item. The desk does not show it.
    pub media: MediaId,
    /// Its team.
    pub team: TeamId,
    /// Its site.
    pub site: SiteId,
    /// The site's name.
    pub site_name: String,
    /// Why the person is asked.
    pub kind: ReviewKind,
    /// How urgent it is.
    pub severity: Severity,
    /// Who is asked.
    pub tier: Tier,
    /// Since when it waits.
    pub waiting_since: DateTime<Utc>,
    /// When it should be decided.
    pub due_at: DateTime<Utc>,
    /// Who has it.
    pub leased_by: Option<ActorId>,
    /// Until when that person has it.
    pub leased_until: Option<DateTime<Utc>>,
    /// The policies that the machine's findings suggest, the most severe first.
    pub suggested: Vec<ReviewPolicyId>,
    /// What was submitted.
    pub content_type: ContentType,
    /// The text.
    pub body: Option<String>,
    /// The URL of the image.
    pub content_url: Option<String>,
    /// What the application sent along, unchanged.
    pub metadata: Option<Box<RawValue>>,
    /// The author; none if the site has no `author_pointer`.
    pub author: Option<String>,
    /// What is known of the image.
    pub image: Option<KnownImage>,
    /// The machine's last verdict; none if there is none.
    pub machine: Option<Verdict>,
    /// What people said before, for a lead; nobody else sees it.
    pub earlier: Vec<Earlier>,
    /// Whether anybody has written a note about the item.
    pub has_notes: bool,
}

/// What somebody said before.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// Who.
    pub by: ActorId,
    /// The name of the person or of the token.
    pub name: Option<String>,
    /// What.
    pub ruling: Ruling,
    /// By which policy.
    pub policy: Option<ReviewPolicyId>,
    /// Why.
    pub reason: String,
    /// When.
    pub said_at: DateTime<Utc>,
}

/// What became of the last items of the same author that were accepted earlier, at most
/// [`COUNTED`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuthorHistory {
    /// Approved items.
    pub approved: i64,
    /// Rejected items.
    pub rejected: i64,
    /// Items that wait for a person.
    pub waiting: i64,
}

/// A review; none if it has ended.
pub async fn view(conn: &mut PgConnection, review: ReviewId) -> Result<Option<Review>, Error> {
    let row = sqlx::query!(
        r#"
        select
            t.id, t.media_id, t.team_id, t.site_id, s.name as site_name, t.kind, t.severity, t.tier, t.waiting_since, t.due_at,
            t.leased_by, t.leased_until, m.content_type, m.body, m.content_url, m.author,
            m.metadata as "metadata: Json<Box<RawValue>>",
            v.number as "number?",
            v.status as "machine_status?",
            v.previous_status as "previous_status?",
            v.moderation_type as "moderation_type?",
            v.moderated_at as "moderated_at?",
            v.details as "details?: Json<Box<RawValue>>",
            v.trace as "trace?: Json<Box<RawValue>>",
            array(
                select p.id
                from review_policies p
                where
                    p.team_id = t.team_id and p.disabled_at is null
                    and (p.categories && t.categories or p.rules && t.rules)
                order by p.severity desc, p.key, p.id
            ) as "suggested!",
            exists (select from review_notes n where n.media_id = t.media_id) as "has_notes!"
        from review_tasks t
        join media m on m.id = t.media_id
        join sites s on s.id = t.site_id
        left join lateral (
            select number, status, previous_status, moderation_type, moderated_at, details, trace
            from verdicts
            where media_id = t.media_id and moderation_type in ('ai', 'rule')
            order by number desc
            limit 1
        ) v on true
        where t.id = $1
        "#,
        review.as_uuid(),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let machine = match (row.number, row.machine_status, row.previous_status) {
        (Some(number), Some(status), Some(previous_status)) => Some(Verdict {
            number,
            status: status.parse()?,
            previous_status: previous_status.parse()?,
            moderation_type: row.moderation_type.unwrap_or_default().parse()?,
            details: row.details.ok_or_else(incomplete)?.0,
            trace: row.trace.ok_or_else(incomplete)?.0,
            moderated_at: row.moderated_at.ok_or_else(incomplete)?,
        }),
        _ => None,
    };
    let tier = tier(row.tier)?;
    let content_type = row.content_type.parse()?;
    let severity = Severity::of_number(row.severity);
    Ok(Some(Review {
        id: row.id.into(),
        media: row.media_id.into(),
        team: row.team_id.into(),
        site: row.site_id.into(),
        site_name: row.site_name,
        kind: row.kind.parse()?,
        severity: severity.ok_or_else(|| {
            Error::Unreadable(format!("a review has the severity {}", row.severity))
        })?,
        tier,
        waiting_since: row.waiting_since,
        due_at: row.due_at,
        leased_by: row.leased_by.map(ActorId::from),
        leased_until: row.leased_until,
        suggested: row
            .suggested
            .into_iter()
            .map(ReviewPolicyId::from)
            .collect(),
        content_type,
        body: row.body,
        content_url: row.content_url,
        metadata: row.metadata.map(|metadata| metadata.0),
        author: row.author,
        image: match content_type {
            ContentType::Text => None,
            ContentType::Image => known(conn, row.media_id.into()).await?,
        },
        machine,
        earlier: match tier {
            Tier::Everybody => Vec::new(),
            Tier::Leads => earlier(conn, review).await?,
        },
        has_notes: row.has_notes,
    }))
}

fn incomplete() -> Error {
    Error::Unreadable("an incomplete verdict".into())
}

async fn earlier(conn: &mut PgConnection, review: ReviewId) -> Result<Vec<Earlier>, Error> {
    let rows = sqlx::query!(
        r#"
        select
            o.actor_id, coalesce(u.name, t.name) as name, o.ruling, o.policy_id, o.reason, o.said_at
        from review_opinions o
        left join memberships m on m.id = o.actor_id
        left join users u on u.id = m.user_id
        left join management_tokens t on t.id = o.actor_id
        where o.task_id = $1 and o.outcome is not null
        order by o.id
        "#,
        review.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Earlier {
                by: row.actor_id.into(),
                name: row.name,
                ruling: row.ruling.parse()?,
                policy: row.policy_id.map(ReviewPolicyId::from),
                reason: row.reason,
                said_at: row.said_at,
            })
        })
        .collect()
}

impl Review {
    /// The kind that the person sees. Audits and known answers look like any other review.
    pub const fn shown_kind(&self) -> ReviewKind {
        match self.kind {
            ReviewKind::Review | ReviewKind::Audit | ReviewKind::Golden => ReviewKind::Review,
            ReviewKind::Appeal => ReviewKind::Appeal,
        }
    }

    /// Whether the person sees what was noted about the item during other reviews. Where the item was decided already and the
    /// person does not know it, notes would tell.
    pub const fn shows_all_notes(&self) -> bool {
        match self.kind {
            ReviewKind::Review | ReviewKind::Appeal => true,
            ReviewKind::Audit | ReviewKind::Golden => false,
        }
    }
}

impl AuthorHistory {
    /// That of the author of a review's item; none if it has no author.
    pub async fn of(conn: &mut PgConnection, review: &Review) -> Result<Option<Self>, Error> {
        let Some(author) = &review.author else {
            return Ok(None);
        };
        let rows = sqlx::query!(
            r#"
            select status, count(*) as "items!"
            from (
                select status
                from media
                where
                    site_id = $1 and hashtextextended(author, 0) = hashtextextended($2, 0) and author = $2 and id < $3
                order by id desc
                limit $4
            ) earlier
            group by status
            "#,
            review.site.as_uuid(),
            author,
            review.media.as_uuid(),
            COUNTED,
        )
        .fetch_all(conn)
        .await?;
        let mut history = Self::default();
        for row in rows {
            match row.status.parse()? {
                Status::Approved => history.approved = row.items,
                Status::Rejected => history.rejected = row.items,
                Status::PendingReview => history.waiting = row.items,
                Status::Pending => {}
            }
        }
        Ok(Some(history))
    }
}
