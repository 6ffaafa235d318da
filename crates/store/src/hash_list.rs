//! Hash lists: those of teams and those that all teams share, their entries ([`entry`]), the files
//! that they are filled from ([`import`]), and what they matched ([`matches`], [`scan`]).
//!
//! A change of a list locks its row first ([`lock`]), so that its revisions are numbered in the
//! order in which they become visible. Everybody may find and read shared lists. Only operators may
//! change them; the caller checks this.

pub mod delta;
pub mod entry;
pub mod import;
pub mod matches;
mod retention;
pub mod scan;
pub mod search;

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    id::{ActorId, HashListId, RuleGroupId, TeamId},
    image_hash::ListKind,
    plan::Limit,
    reach::Reach,
};
use sqlx::PgConnection;
use uuid::Uuid;

pub use self::retention::forget_old;
use crate::{Error, page::Page, plan::limit};

/// The most entries of all lists of a team, and of all shared lists. Workers hold them in memory.
pub const MAX_ENTRIES: i64 = 2_000_000;

/// Two lists of a team, or two shared lists, cannot have one name.
const NAME_KEY: &str = "hash_lists_name_key";

/// A list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashList {
    /// The list.
    pub id: HashListId,
    /// Its team; none: it is shared.
    pub team: Option<TeamId>,
    /// Its name. It is unique among the lists of the team, or among the shared lists.
    pub name: String,
    /// Its description; may be empty.
    pub description: String,
    /// What an entry means.
    pub kind: ListKind,
    /// The most bits in which the PDQ of a picture that is on it may differ.
    pub max_distance: u32,
    /// Counts the changes of its entries.
    pub revision: i64,
    /// How many entries it has.
    pub entries: i64,
    /// Who created it.
    pub created_by: Option<ActorId>,
    /// When.
    pub created_at: DateTime<Utc>,
}

fn distance(bits: u32) -> i16 {
    i16::try_from(bits).unwrap_or(i16::MAX)
}

/// Raises the revision of a list, which locks it until the transaction ends; none if it was
/// deleted.
pub(crate) async fn raise(
    conn: &mut PgConnection,
    list: HashListId,
) -> Result<Option<Raised>, sqlx::Error> {
    sqlx::query_as!(
        Raised,
        r#"
        update hash_lists l
        set revision = l.revision + 1
        where l.id = $1 and l.deleted_at is null
        returning l.revision, (
            select sum(o.entries)::bigint
            from hash_lists o
            where o.team_id is not distinct from l.team_id and o.deleted_at is null
        ) as "entries!"
        "#,
        list.as_uuid(),
    )
    .fetch_optional(conn)
    .await
}

/// A list whose revision was raised.
pub(crate) struct Raised {
    /// The new revision.
    pub(crate) revision: i64,
    /// How many entries it has, together with the team's other lists.
    pub(crate) entries: i64,
}

/// Adds to the number of a list's entries.
pub(crate) async fn count(
    conn: &mut PgConnection,
    list: HashListId,
    more: i64,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update hash_lists set entries = entries + $2 where id = $1",
        list.as_uuid(),
        more
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The most shared lists. The number of a team's own lists is limited by its plan.
pub const MAX_SHARED: i64 = 100;

/// A list to be created.
#[derive(Clone, Copy, Debug)]
pub struct NewHashList<'a> {
    /// Its team; none: it is shared.
    pub team: Option<TeamId>,
    /// What it is called.
    pub name: &'a str,
    /// Its description; may be empty.
    pub description: &'a str,
    /// What an entry means.
    pub kind: ListKind,
    /// The most bits in which the PDQ of a picture that is on it may differ, up to 31.
    pub max_distance: u32,
    /// Who did it.
    pub by: Actor,
}

/// Creates an empty list; none if it would be a shared list and there are [`MAX_SHARED`] already.
/// Run it in a transaction.
///
/// # Errors
/// [`Error::NameTaken`], [`Error::LimitReached`].
pub async fn create(
    conn: &mut PgConnection,
    new: NewHashList<'_>,
) -> Result<Option<HashListId>, Error> {
    if let Some(team) = new.team {
        limit::require(conn, team, Limit::HashLists).await?;
    }
    let id = HashListId::from(Uuid::now_v7());
    let created = sqlx::query!(
        "
        insert into hash_lists (id, team_id, name, description, kind, max_distance, created_by)
        select $1, $2, $3, $4, $5, $6, $7
        where $2::uuid is not null or (select count(*) from hash_lists where team_id is null and deleted_at is null) < $8
        ",
        id.as_uuid(),
        new.team.map(TeamId::as_uuid),
        new.name,
        new.description,
        new.kind.as_str(),
        distance(new.max_distance),
        new.by.as_uuid(),
        MAX_SHARED,
    )
    .execute(conn)
    .await
    .map_err(Error::on_violation(NAME_KEY, Error::NameTaken))?;
    Ok((created.rows_affected() > 0).then_some(id))
}

/// The lists that meet a condition.
macro_rules! select {
    ($conn:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query!(
            "
        select id, team_id, name, description, kind, max_distance, revision, entries, created_by, created_at
        from hash_lists
        where"
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(|row| {
            Ok(HashList {
                id: row.id.into(),
                team: row.team_id.map(TeamId::from),
                name: row.name,
                description: row.description,
                kind: row.kind.parse()?,
                max_distance: u32::try_from(row.max_distance).unwrap_or(0),
                revision: row.revision,
                entries: row.entries,
                created_by: row.created_by.map(ActorId::from),
                created_at: row.created_at,
            })
        })
        .collect::<Result<Vec<_>, Error>>()
    };
}

/// A list; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    list: HashListId,
) -> Result<Option<HashList>, Error> {
    let found = select!(
        conn,
        " id = $1 and ($2::uuid is null or team_id = $2 or team_id is null) and deleted_at is null",
        list.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found?.pop())
}

/// A list that nobody else changes until the transaction ends; none if there is none within reach.
pub async fn lock(
    conn: &mut PgConnection,
    reach: Reach,
    list: HashListId,
) -> Result<Option<HashList>, Error> {
    sqlx::query_scalar!(
        "select id from hash_lists where id = $1 and ($2::uuid is null or team_id = $2) for no key update",
        list.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    // It is read after the lock, so that it shows the changes that the lock waited for.
    find(conn, reach, list).await
}

/// Lists within reach, the oldest first.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    page: Page,
) -> Result<Vec<HashList>, Error> {
    select!(
        conn,
        "
            ($1::uuid is null or team_id = $1 or team_id is null)
            and ($2::uuid is null or id > $2) and deleted_at is null
        order by id
        limit $3",
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit
    )
}

/// Lists that all teams share, the oldest first.
pub async fn shared(conn: &mut PgConnection, page: Page) -> Result<Vec<HashList>, Error> {
    select!(
        conn,
        " team_id is null and ($1::uuid is null or id > $1) and deleted_at is null
        order by id
        limit $2",
        page.after,
        page.limit
    )
}

/// Fields of a list to change. `None` keeps the value.
#[derive(Clone, Copy, Debug, Default)]
pub struct HashListChange<'a> {
    /// Its new name.
    pub name: Option<&'a str>,
    /// Its new description.
    pub description: Option<&'a str>,
    /// The most bits in which the PDQ of a picture that is on it may differ, up to 31.
    pub max_distance: Option<u32>,
}

/// Changes a list. Run it in a transaction that has locked it.
///
/// # Errors
/// [`Error::NameTaken`].
pub async fn change(
    conn: &mut PgConnection,
    list: HashListId,
    change: HashListChange<'_>,
) -> Result<(), Error> {
    sqlx::query!(
        "
        update hash_lists
        set
            name = coalesce($2, name),
            description = coalesce($3, description),
            max_distance = coalesce($4, max_distance)
        where id = $1
        ",
        list.as_uuid(),
        change.name,
        change.description,
        change.max_distance.map(distance),
    )
    .execute(conn)
    .await
    .map_err(Error::on_violation(NAME_KEY, Error::NameTaken))?;
    Ok(())
}

/// A list, locked so that nobody else changes it or names it in a rule until the transaction ends;
/// none if there is none within reach. With it, some of the groups whose live version, shadow or
/// draft names it.
pub async fn lock_to_delete(
    conn: &mut PgConnection,
    reach: Reach,
    list: HashListId,
) -> Result<Option<(HashList, Vec<RuleGroupId>)>, Error> {
    sqlx::query_scalar!(
        "select id from hash_lists where id = $1 and ($2::uuid is null or team_id = $2) for update",
        list.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(found) = find(conn, reach, list).await? else {
        return Ok(None);
    };
    let groups = sqlx::query_scalar!(
        r#"
        select id as "id!" from rule_groups where draft_hash_lists @> array[$1::uuid] and disabled_at is null
        union
        select g.id
        from rule_group_versions v
        join rule_groups g on g.id = v.rule_group_id and v.id in (g.live_version_id, g.shadow_version_id)
        where v.hash_lists @> array[$1::uuid] and g.disabled_at is null
        limit 10
        "#,
        list.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    let groups = groups.into_iter().map(RuleGroupId::from).collect();
    Ok(Some((found, groups)))
}

/// Deletes a list, and stops its imports and scans. Its entries are removed later. Its matches
/// stay. Run it in a transaction that has locked the list with [`lock_to_delete`].
pub async fn delete(conn: &mut PgConnection, list: HashListId) -> Result<(), Error> {
    sqlx::query!(
        "update hash_lists set deleted_at = now(), entries = 0 where id = $1",
        list.as_uuid()
    )
    .execute(&mut *conn)
    .await?;
    import::cancel_all(conn, list).await?;
    scan::cancel_all(conn, list).await
}

/// Which of these lists rules of the team may name.
macro_rules! usable {
    ($conn:expr, $team:expr, $lists:expr, $lock:literal) => {{
        let lists: Vec<Uuid> = $lists.iter().map(|list| list.as_uuid()).collect();
        let usable = sqlx::query_scalar!(
            "
        select id
        from hash_lists
        where id = any($2) and (team_id = $1 or team_id is null) and deleted_at is null
        " + $lock,
            $team.as_uuid(),
            &lists,
        )
        .fetch_all($conn)
        .await?;
        Ok(usable.into_iter().map(HashListId::from).collect())
    }};
}

/// Which of these lists rules of the team may name.
pub async fn usable(
    conn: &mut PgConnection,
    team: TeamId,
    lists: &BTreeSet<HashListId>,
) -> Result<Vec<HashListId>, Error> {
    usable!(conn, team, lists, "")
}

/// The same, and locks them, so that none is deleted before the transaction ends.
pub async fn hold_usable(
    conn: &mut PgConnection,
    team: TeamId,
    lists: &BTreeSet<HashListId>,
) -> Result<Vec<HashListId>, Error> {
    usable!(
        conn,
        team,
        lists,
        "order by id
        for key share
        "
    )
}
