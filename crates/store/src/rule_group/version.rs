//! Versions: immutable once they are made. One of them is live.

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    id::{ActorId, GroupVersionId, RuleGroupId},
    rules::Rule,
    score::Category,
};
use serde::Serialize;
use sqlx::{PgConnection, PgPool, types::Json};
use uuid::Uuid;

use crate::{
    Error,
    page::Page,
    rule_group::{actor, hash_lists},
};

/// A new version's content: rules that compile, which the caller has checked.
#[derive(Clone, Copy, Debug)]
pub struct NewVersion<'a> {
    /// The rules.
    pub rules: &'a [Rule],
    /// The categories whose scores the enabled rules ask for. If there are any, submissions are
    /// analysed first.
    pub categories: &'a [Category],
}

/// Who makes a version, and a note about it.
#[derive(Clone, Copy, Debug)]
pub struct Authorship<'a> {
    /// Who makes it.
    pub by: Actor,
    /// A note about it.
    pub note: &'a str,
}

impl Authorship<'_> {
    /// From the command line, without a note.
    pub const COMMAND_LINE: Self = Self {
        by: Actor::CommandLine,
        note: "",
    };
}

/// A version without its rules. The audit log shows it as the management interface does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedVersion {
    /// The version.
    pub id: GroupVersionId,
    /// Its number; a group's versions count from 1.
    pub number: i32,
    /// Its author's note.
    pub note: String,
    /// How many rules it has.
    #[serde(rename = "rule_count")]
    pub rules: i32,
    /// Who made it; none from the command line.
    pub created_by: Option<ActorId>,
    /// When it was made.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
}

/// A version with its rules.
#[derive(Clone, Debug)]
pub struct Version {
    /// What lists show of it.
    pub listed: ListedVersion,
    /// Its rules, in the order of evaluation.
    pub rules: Vec<Rule>,
}

/// Adds the next version to a group; it is not live. Run it in a transaction that has locked the
/// group.
pub async fn add_version(
    conn: &mut PgConnection,
    group: RuleGroupId,
    new: NewVersion<'_>,
    authorship: Authorship<'_>,
) -> Result<GroupVersionId, Error> {
    let id = GroupVersionId::from(Uuid::now_v7());
    insert(conn, id, group, new, authorship).await?;
    Ok(id)
}

pub(crate) async fn insert(
    conn: &mut PgConnection,
    id: GroupVersionId,
    group: RuleGroupId,
    new: NewVersion<'_>,
    authorship: Authorship<'_>,
) -> Result<(), sqlx::Error> {
    let categories: Vec<&str> = new.categories.iter().map(|c| c.as_str()).collect();
    sqlx::query!(
        "
        insert into rule_group_versions
            (id, rule_group_id, number, rules, categories, uses_ai, note, created_by, hash_lists, created_at)
        select
            $1, $2, coalesce(max(number), 0) + 1, $3, $4, cardinality($4::text []) > 0, $5, $6, $7, clock_timestamp()
        from rule_group_versions
        where rule_group_id = $2
        ",
        id.as_uuid(),
        group.as_uuid(),
        Json(new.rules) as _,
        &categories as &[&str],
        authorship.note,
        authorship.by.as_uuid(),
        &hash_lists(new.rules),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// A version as it was published.
#[derive(Clone, Debug)]
pub struct GroupVersion {
    /// The group.
    pub group: RuleGroupId,
    /// The version.
    pub id: GroupVersionId,
    /// The group's present name.
    pub name: String,
    /// Its rules, in the order of evaluation.
    pub rules: Vec<Rule>,
}

/// A version's rules; none if there is no such version.
pub async fn find_version(
    pool: &PgPool,
    version: GroupVersionId,
) -> Result<Option<GroupVersion>, Error> {
    let row = sqlx::query!(
        r#"
        select v.rule_group_id, g.name, v.rules as "rules: Json<Vec<Rule>>"
        from rule_group_versions v
        join rule_groups g on g.id = v.rule_group_id
        where v.id = $1
        "#,
        version.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    Ok(row.map(|row| GroupVersion {
        group: row.rule_group_id.into(),
        id: version,
        name: row.name,
        rules: row.rules.0,
    }))
}

/// A version of a group; none if the group has no such version.
pub async fn version(
    conn: &mut PgConnection,
    group: RuleGroupId,
    version: GroupVersionId,
) -> Result<Option<Version>, Error> {
    let row = sqlx::query!(
        r#"
        select id, number, note, created_by, created_at, rules as "rules: Json<Vec<Rule>>"
        from rule_group_versions
        where id = $1 and rule_group_id = $2
        "#,
        version.as_uuid(),
        group.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| Version {
        listed: ListedVersion {
            id: row.id.into(),
            number: row.number,
            note: row.note,
            rules: i32::try_from(row.rules.len()).unwrap_or(i32::MAX),
            created_by: actor(row.created_by),
            created_at: row.created_at,
        },
        rules: row.rules.0,
    }))
}

/// A group's versions, the newest first.
pub async fn versions(
    conn: &mut PgConnection,
    group: RuleGroupId,
    page: Page,
) -> Result<Vec<ListedVersion>, Error> {
    let rows = sqlx::query!(
        r#"
        select id, number, note, json_array_length(rules) as "rules!", created_by, created_at
        from rule_group_versions
        where
            rule_group_id = $1
            and ($2::uuid is null or number < (select number from rule_group_versions where id = $2))
        order by number desc
        limit $3
        "#,
        group.as_uuid(),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    let listed = rows.into_iter().map(|row| ListedVersion {
        id: row.id.into(),
        number: row.number,
        note: row.note,
        rules: row.rules,
        created_by: actor(row.created_by),
        created_at: row.created_at,
    });
    Ok(listed.collect())
}

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
