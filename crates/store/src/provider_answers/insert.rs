//! New answers, gathered. Each team has a ring of slots: a new answer takes the place of the team's
//! oldest one.

use database::Trouble;
use domain::{
    id::{MediaId, TeamId},
    score::Scores,
};
use sqlx::PgPool;
use telemetry::{failed, over};
use uuid::Uuid;

use super::AnswerKey;
use crate::{
    Error,
    gather::{Bounds, Gather},
    json::to_json,
};

/// Answers that could not be stored.
static TROUBLE: Trouble = Trouble::at_once();

/// What a provider said of a whole text.
#[derive(Clone, Debug)]
pub struct NewAnswer {
    /// The item that was shown to the provider.
    pub media: MediaId,
    /// What the answer is found by.
    pub key: AnswerKey,
    /// The provider's scores.
    pub scores: Scores,
}

/// Stores new answers. `false` means that an answer could not be stored.
pub(super) fn keeper(pool: PgPool, bounds: Bounds, most: u32) -> Gather<NewAnswer, bool, TeamId> {
    Gather::shared(bounds, move |batch| {
        let pool = pool.clone();
        async move {
            let answers: Vec<&NewAnswer> = batch.iter().map(|call| &call.question).collect();
            let kept = keep(&pool, &answers, most).await;
            match &kept {
                Ok(()) => over!(
                    TROUBLE.worked(),
                    "providers' answers for equal texts are kept again"
                ),
                Err(error) => failed!(
                    TROUBLE.failed(error),
                    %error,
                    "could not keep providers' answers for equal texts"
                ),
            }
            for call in batch {
                call.answer(kept.is_ok());
            }
        }
    })
}

/// Stores answers: one for equal texts, and none that is stored already. Nothing is stored for an
/// item that is gone, or for a site without a cache.
pub(super) async fn keep(pool: &PgPool, answers: &[&NewAnswer], most: u32) -> Result<(), Error> {
    let media: Vec<Uuid> = answers
        .iter()
        .map(|answer| answer.media.as_uuid())
        .collect();
    let keys: Vec<Vec<u8>> = answers.iter().map(|answer| answer.key.0.to_vec()).collect();
    let scores = answers.iter().map(|answer| to_json(&answer.scores));
    let scores: Vec<String> = scores.collect::<Result<_, _>>()?;
    // Rings are locked in the order of their teams, so that two processes never wait for each
    // other.
    sqlx::query!(
        "
        with given as (
            select distinct on (m.site_id, a.key) m.team_id, m.site_id, m.id as media_id, a.key, a.scores
            from unnest($1::uuid [], $2::bytea [], $3::text []) as a (media_id, key, scores)
            join media m on m.id = a.media_id and m.body is not null
            join sites s on s.id = m.site_id and s.answer_cache_seconds is not null
            where not exists (
                select
                from cached_answers c
                join media o on o.id = c.media_id and o.body is not null
                where
                    c.site_id = m.site_id and c.key = a.key
                    and c.created_at > clock_timestamp() - make_interval(secs => s.answer_cache_seconds)
            )
            order by m.site_id, a.key
        ),
        numbered as (
            select g.*, (row_number() over (partition by g.team_id))::integer as number from given g
        ),
        new as materialized (
            select * from numbered where number <= $4
        ),
        taken as (
            insert into answer_rings as r (team_id, slot)
            select team_id, count(*)::integer - 1 from new group by team_id order by team_id
            on conflict (team_id) do update set slot = (r.slot + excluded.slot + 1) % $4
            returning team_id, slot
        )
        insert into cached_answers (team_id, slot, site_id, key, media_id, scores, created_at)
        select
            n.team_id, (t.slot - n.number + 1 + $4) % $4, n.site_id, n.key, n.media_id, n.scores::json, clock_timestamp()
        from new n
        join taken t on t.team_id = n.team_id
        on conflict on constraint cached_answers_pkey do update
        set
            site_id = excluded.site_id, key = excluded.key, media_id = excluded.media_id, scores = excluded.scores,
            created_at = excluded.created_at
        ",
        &media,
        &keys,
        &scores,
        i32::try_from(most).unwrap_or(i32::MAX),
    )
    .execute(pool)
    .await?;
    Ok(())
}
