//! A person's decision about an item. Its verdict is stored and told in the same way as the
//! machine's.

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    decision::{Found, ManualDetails},
    id::{ActorId, MediaId, MemberId, SiteId, TeamId, TokenId},
    media::{ModerationType, Standing, Step},
    reach::Reach,
    reason::Reason,
};
use queue::NewJobs;
use serde::Serialize;
use serde_json::value::RawValue;
use sqlx::{PgConnection, types::Json};

use crate::{
    Error,
    json::to_json,
    verdict::{Conclusion, conclude},
};

/// A person's decision.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'a> {
    /// The item.
    pub media: MediaId,
    /// The status that it must still have, and the status that it gets.
    pub step: Step,
    /// Why. The application reads it.
    pub reason: &'a Reason,
    /// Who decides.
    pub moderator: Actor,
}

/// How a person's verdict came to be, as the verdict keeps it.
#[derive(Serialize)]
struct Trace<'a> {
    moderator: Moderator,
    reason: &'a Reason,
}

/// Who decided, as the verdict keeps it.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Moderator {
    Token {
        token_id: TokenId,
        token_name: Option<String>,
    },
    Member {
        member_id: MemberId,
        member_name: Option<String>,
    },
    Other {
        actor: &'static str,
    },
}

/// A decision that was stored.
#[derive(Debug)]
pub struct Decided {
    /// When.
    pub moderated_at: DateTime<Utc>,
    /// The jobs that deliver it. Tell the queue of them after the commit.
    pub jobs: NewJobs,
}

/// An item's team and status; none if there is none within reach.
pub async fn standing(
    conn: &mut PgConnection,
    reach: Reach,
    media: MediaId,
) -> Result<Option<(TeamId, Standing)>, Error> {
    let row = sqlx::query!(
        "
        select team_id, status, verdict from media
        where id = $1 and ($2::uuid is null or team_id = $2) and erased_at is null
        ",
        media.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(|row| {
        let standing = Standing {
            status: row.status.parse()?,
            verdicts: row
                .verdict
                .map_or(0, |number| u16::try_from(number).unwrap_or(0)),
        };
        Ok((row.team_id.into(), standing))
    })
    .transpose()
}

/// The site of an item that exists.
pub async fn site_of(conn: &mut PgConnection, media: MediaId) -> Result<SiteId, Error> {
    let site = sqlx::query_scalar!("select site_id from media where id = $1", media.as_uuid())
        .fetch_one(conn)
        .await?;
    Ok(site.into())
}

/// Stores a person's verdict and tells it to the endpoints; none, and nothing is stored, if the
/// item no longer has the status that the step begins with. Run it in a transaction.
pub async fn decide(
    conn: &mut PgConnection,
    decision: Decision<'_>,
) -> Result<Option<Decided>, Error> {
    let Decision {
        media,
        step,
        reason,
        moderator,
    } = decision;
    let moderator = match moderator.id() {
        Some(id) => self::moderator(conn, id).await?,
        None => Moderator::Other {
            actor: moderator.kind(),
        },
    };
    let details = details_of(conn, media, reason).await?;
    let trace = to_json(&Trace { moderator, reason })?;
    let conclusion = Conclusion {
        media,
        step,
        moderation_type: ModerationType::Manual,
        details: &details,
        trace: &trace,
        analysed: None,
        // Only items that the machine has decided come here, and their acceptance was told.
        created: None,
    };
    let mut jobs = NewJobs::new();
    let stored = conclude(conn, &[conclusion], &mut jobs).await?;
    let Some((_, moderated_at)) = stored.first().copied() else {
        return Ok(None);
    };
    queue::enqueue(conn, &jobs).await?;
    end_second_looks(conn, media).await?;
    Ok(Some(Decided { moderated_at, jobs }))
}

/// Audits and appeals are about the verdict that was in force.
async fn end_second_looks(conn: &mut PgConnection, media: MediaId) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from review_tasks where media_id = $1 and kind in ('audit', 'appeal')",
        media.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Who decided, as the verdict keeps it.
pub(crate) async fn moderator(
    conn: &mut PgConnection,
    actor: ActorId,
) -> Result<Moderator, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select m.id is not null as "is_member!", coalesce(u.name, t.name) as name
        from actors a
        left join memberships m on m.id = a.id
        left join users u on u.id = m.user_id
        left join management_tokens t on t.id = a.id
        where a.id = $1
        "#,
        actor.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(match row {
        Some(row) if row.is_member => Moderator::Member {
            member_id: actor.as_uuid().into(),
            member_name: row.name,
        },
        row => Moderator::Token {
            token_id: actor.as_uuid().into(),
            token_name: row.and_then(|row| row.name),
        },
    })
}

/// The contract's `moderation_details` of a person's verdict, as JSON.
pub(crate) async fn details_of(
    conn: &mut PgConnection,
    media: MediaId,
    reason: &Reason,
) -> Result<String, sqlx::Error> {
    let found = found(conn, media).await?;
    to_json(&ManualDetails::new(reason, &found))
}

/// What the machine found last; nothing before it has judged.
async fn found(conn: &mut PgConnection, media: MediaId) -> Result<Found, sqlx::Error> {
    let details = sqlx::query_scalar!(
        r#"
        select details as "details: Json<Box<RawValue>>"
        from verdicts
        where media_id = $1 and moderation_type in ('ai', 'rule')
        order by number desc
        limit 1
        "#,
        media.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    match details {
        Some(Json(details)) => {
            serde_json::from_str(details.get()).map_err(|error| sqlx::Error::Decode(error.into()))
        }
        None => Ok(Found::default()),
    }
}
