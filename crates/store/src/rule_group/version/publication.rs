//! Publishing: which of a group's versions is live, and which were before.

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    id::{ActorId, GroupVersionId, RuleGroupId},
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, page::Page, rule_group::actor};

/// A version that became live.
#[derive(Clone, Debug)]
pub struct Publication {
    /// The entry in the group's history.
    pub id: Uuid,
    /// The version.
    pub version: GroupVersionId,
    /// Its number.
    pub number: i32,
    /// Who made it live; none from the command line.
    pub published_by: Option<ActorId>,
    /// When it became live.
    pub published_at: DateTime<Utc>,
}

/// Makes one of a group's versions live: it judges everything that is submitted after the commit.
/// It is no longer a shadow. Run it in a transaction that has locked the group.
pub async fn set_live(
    conn: &mut PgConnection,
    group: RuleGroupId,
    version: GroupVersionId,
    by: Actor,
) -> Result<(), Error> {
    // The draft shows another version now, unless it is being edited.
    sqlx::query!(
        "
        update rule_groups
        set
            live_version_id = $2,
            shadow_version_id = nullif(shadow_version_id, $2),
            draft_revision = draft_revision + 1
        where id = $1
        ",
        group.as_uuid(),
        version.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    record_publication(conn, group, version, by).await?;
    Ok(())
}

pub(crate) async fn record_publication(
    conn: &mut PgConnection,
    group: RuleGroupId,
    version: GroupVersionId,
    by: Actor,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        insert into rule_group_publications (id, rule_group_id, version_id, published_by, published_at)
        values ($1, $2, $3, $4, clock_timestamp())
        ",
        Uuid::now_v7(),
        group.as_uuid(),
        version.as_uuid(),
        by.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Which versions of a group were live from when, the latest first.
pub async fn publications(
    conn: &mut PgConnection,
    group: RuleGroupId,
    page: Page,
) -> Result<Vec<Publication>, Error> {
    let rows = sqlx::query!(
        "
        select p.id, p.version_id, v.number, p.published_by, p.published_at
        from rule_group_publications p
        join rule_group_versions v on v.id = p.version_id
        where p.rule_group_id = $1 and ($2::uuid is null or p.id < $2)
        order by p.id desc
        limit $3
        ",
        group.as_uuid(),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    let publications = rows.into_iter().map(|row| Publication {
        id: row.id,
        version: row.version_id.into(),
        number: row.number,
        published_by: actor(row.published_by),
        published_at: row.published_at,
    });
    Ok(publications.collect())
}
