//! How much a person has seen, for the person's own good.

use chrono::NaiveDate;
use domain::id::{ActorId, TeamId};
use sqlx::PgConnection;

use crate::Error;

/// Counts a picture that somebody has unveiled.
pub async fn count_unveiled(
    conn: &mut PgConnection,
    actor: ActorId,
    team: TeamId,
) -> Result<(), Error> {
    sqlx::query!(
        "
        insert into review_exposures as e (actor_id, day, team_id, unveiled)
        values ($1, (now() at time zone 'UTC')::date, $2, 1)
        on conflict (actor_id, day) do update set unveiled = e.unveiled + 1
        ",
        actor.as_uuid(),
        team.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// How much somebody has seen on a day.
#[derive(Clone, Debug)]
pub struct Exposure {
    /// Who.
    pub actor: ActorId,
    /// What they are called; none if they are gone.
    pub name: Option<String>,
    /// The day, in UTC.
    pub day: NaiveDate,
    /// Pictures that they have unveiled.
    pub unveiled: i32,
    /// Decisions that they have made, those included that they undid.
    pub decided: i32,
}

/// What the people of a team have seen on these days, the latest day first, at most `most` rows.
pub async fn of_days(
    conn: &mut PgConnection,
    team: TeamId,
    only: Option<ActorId>,
    (from, to): (NaiveDate, NaiveDate),
    most: i64,
) -> Result<Vec<Exposure>, Error> {
    let rows = sqlx::query!(
        "
        select e.actor_id, coalesce(u.name, t.name) as name, e.day, e.unveiled, e.decided
        from review_exposures e
        left join memberships m on m.id = e.actor_id and m.team_id = e.team_id
        left join users u on u.id = m.user_id
        left join management_tokens t on t.id = e.actor_id and t.team_id = e.team_id
        where e.team_id = $1 and e.day between $3 and $4 and ($2::uuid is null or e.actor_id = $2)
        order by e.day desc, e.actor_id
        limit $5
        ",
        team.as_uuid(),
        only.map(ActorId::as_uuid),
        from,
        to,
        most,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| Exposure {
            actor: row.actor_id.into(),
            name: row.name,
            day: row.day,
            unveiled: row.unveiled,
            decided: row.decided,
        })
        .collect())
}
