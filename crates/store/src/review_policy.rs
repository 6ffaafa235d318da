//! Policies: what a team's moderators reject items for.

use chrono::{DateTime, Utc};
use domain::{
    id::{ReviewPolicyId, TeamId},
    name::Name,
    reach::Reach,
    reason::Reason,
    review::{Guideline, PolicyCode, PolicyKey, Severity},
    score::Category,
};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, error::violates, page::Page};

const CODE_KEY: &str = "review_policies_code_key";
const KEY_KEY: &str = "review_policies_key_key";

/// A policy. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct ReviewPolicy {
    /// The policy.
    pub id: ReviewPolicyId,
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

/// What a team may change about a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// What programs and reports call it.
    pub code: PolicyCode,
    /// What people call it.
    pub name: Name,
    /// What moderators read about it.
    pub guideline: Guideline,
    /// What applications are told unless the moderator writes something else.
    pub reason: Reason,
    /// Its key on the desk.
    pub key: Option<PolicyKey>,
    /// How urgent items are for which it is suggested.
    pub severity: Severity,
    /// It is suggested for items that the machine flagged for one of these categories,
    pub categories: Vec<Category>,
    /// or that a rule with one of these names matched.
    pub rules: Vec<Name>,
    /// Whether two people must say the same before it is told.
    pub two_people: bool,
}

/// What another policy of the team has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The code.
    Code,
    /// The key.
    Key,
}

/// The policies that meet a condition.
macro_rules! select {
    ($conn:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query_as!(
            Row,
            "
        select
            id, team_id, code, name, guideline, reason, key, severity, categories, rules, two_people, created_at
        from review_policies
        where "
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(ReviewPolicy::try_from)
        .collect::<Result<Vec<_>, Error>>()
    };
}

/// A team's policies: first those with a key, in the order of keys, then the others by age.
pub async fn all(conn: &mut PgConnection, team: TeamId) -> Result<Vec<ReviewPolicy>, Error> {
    select!(
        conn,
        "team_id = $1 and disabled_at is null
        order by key, id",
        team.as_uuid()
    )
}

/// Policies within reach, the oldest first.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    page: Page,
) -> Result<Vec<ReviewPolicy>, Error> {
    select!(
        conn,
        "($1::uuid is null or team_id = $1) and ($2::uuid is null or id > $2) and disabled_at is null
        order by id
        limit $3",
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit
    )
}

/// A policy that was not deleted, locked until the transaction ends; none if there is none within
/// reach.
pub async fn lock(
    conn: &mut PgConnection,
    reach: Reach,
    policy: ReviewPolicyId,
) -> Result<Option<ReviewPolicy>, Error> {
    let found = select!(
        conn,
        "id = $1 and ($2::uuid is null or team_id = $2) and disabled_at is null
        for no key update",
        policy.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found?.pop())
}

/// A policy that was not deleted; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    policy: ReviewPolicyId,
) -> Result<Option<ReviewPolicy>, Error> {
    let found = select!(
        conn,
        "id = $1 and ($2::uuid is null or team_id = $2) and disabled_at is null",
        policy.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found?.pop())
}

/// How many policies a team has. Nobody else creates one until the transaction ends.
pub async fn count(conn: &mut PgConnection, team: TeamId) -> Result<i64, Error> {
    sqlx::query!(
        "select id from teams where id = $1 for no key update",
        team.as_uuid()
    )
    .fetch_optional(&mut *conn)
    .await?;
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from review_policies where team_id = $1 and disabled_at is null"#,
        team.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(count)
}

/// Creates a policy, unless another one of the team has its code or its key.
pub async fn create(
    conn: &mut PgConnection,
    team: TeamId,
    settings: &Settings,
) -> Result<Result<ReviewPolicyId, Taken>, Error> {
    let id = ReviewPolicyId::from(Uuid::now_v7());
    let inserted = sqlx::query!(
        "
        insert into review_policies
            (id, team_id, code, name, guideline, reason, key, severity, categories, rules, two_people)
        values ($1, $2, $3, $4, $5, $6, $7::bigint, $8, $9, $10, $11)
        ",
        id.as_uuid(),
        team.as_uuid(),
        settings.code.as_str(),
        settings.name.as_str(),
        settings.guideline.as_str(),
        settings.reason.as_str(),
        settings.key.map(PolicyKey::get),
        settings.severity.number(),
        &settings.categories(),
        &settings.rules(),
        settings.two_people,
    )
    .execute(conn)
    .await;
    taken(inserted.map(|_| id))
}

/// Gives a policy that exists other settings, unless another one of the team has its code or key.
pub async fn change(
    conn: &mut PgConnection,
    policy: ReviewPolicyId,
    settings: &Settings,
) -> Result<Result<(), Taken>, Error> {
    let updated = sqlx::query!(
        "
        update review_policies
        set
            code = $2, name = $3, guideline = $4, reason = $5, key = $6::bigint, severity = $7, categories = $8, rules = $9,
            two_people = $10
        where id = $1
        ",
        policy.as_uuid(),
        settings.code.as_str(),
        settings.name.as_str(),
        settings.guideline.as_str(),
        settings.reason.as_str(),
        settings.key.map(PolicyKey::get),
        settings.severity.number(),
        &settings.categories(),
        &settings.rules(),
        settings.two_people,
    )
    .execute(conn)
    .await;
    taken(updated.map(|_| ()))
}

/// Deletes a policy. What was decided by it still names it.
pub async fn delete(conn: &mut PgConnection, policy: ReviewPolicyId) -> Result<(), Error> {
    sqlx::query!(
        "update review_policies set disabled_at = now() where id = $1",
        policy.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

fn taken<T>(done: Result<T, sqlx::Error>) -> Result<Result<T, Taken>, Error> {
    match done {
        Ok(done) => Ok(Ok(done)),
        Err(error) if violates(&error, CODE_KEY) => Ok(Err(Taken::Code)),
        Err(error) if violates(&error, KEY_KEY) => Ok(Err(Taken::Key)),
        Err(error) => Err(error.into()),
    }
}

impl Settings {
    fn categories(&self) -> Vec<String> {
        self.categories.iter().map(ToString::to_string).collect()
    }

    fn rules(&self) -> Vec<String> {
        self.rules.iter().map(ToString::to_string).collect()
    }
}

struct Row {
    id: Uuid,
    team_id: Uuid,
    code: String,
    name: String,
    guideline: String,
    reason: String,
    key: Option<i16>,
    severity: i16,
    categories: Vec<String>,
    rules: Vec<String>,
    two_people: bool,
    created_at: DateTime<Utc>,
}

impl TryFrom<Row> for ReviewPolicy {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        let unreadable = |what: &str| Error::Unreadable(format!("{what} of policy {}", row.id));
        let key = row.key.map(|key| PolicyKey::try_from(i64::from(key)));
        let rules = row.rules.into_iter().map(|name| Name::try_from(name).ok());
        Ok(Self {
            id: row.id.into(),
            team: row.team_id.into(),
            settings: Settings {
                code: PolicyCode::try_from(row.code).map_err(|_| unreadable("the code"))?,
                name: Name::try_from(row.name).map_err(|_| unreadable("the name"))?,
                guideline: Guideline::try_from(row.guideline)
                    .map_err(|_| unreadable("the guideline"))?,
                reason: Reason::try_from(row.reason).map_err(|_| unreadable("the reason"))?,
                key: key.transpose().map_err(|_| unreadable("the key"))?,
                severity: Severity::of_number(row.severity)
                    .ok_or_else(|| unreadable("the severity"))?,
                // A category that only a newer version knows suggests nothing here.
                categories: row
                    .categories
                    .iter()
                    .filter_map(|name| name.parse().ok())
                    .collect(),
                rules: rules.flatten().collect(),
                two_people: row.two_people,
            },
            created_at: row.created_at,
        })
    }
}
