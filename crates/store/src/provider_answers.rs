//! Providers' answers about whole texts. They are kept for as long as the site wants, so that the
//! providers are not asked again about equal texts of the same site. A lost answer costs one
//! request and nothing else.

use std::collections::HashMap;

use database::Trouble;
use domain::{
    id::{MediaId, SiteId, TeamId},
    score::Scores,
};
use sqlx::{PgConnection, PgPool, types::Json};
use telemetry::{failed, over};
use uuid::Uuid;

use crate::{
    Error,
    batches::{self, Pace, ROWS},
    gather::{Bounds, Gather, Loader},
    json::to_json,
};

/// SHA-256 of a text, of what was asked, and of the configuration of the provider that was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AnswerKey(pub [u8; 32]);

/// What a provider said of an equal text.
#[derive(Clone, Debug)]
pub struct CachedAnswer {
    /// The item that was shown to the provider.
    pub media: MediaId,
    /// The provider's scores.
    pub scores: Scores,
}

/// The answers of all sites. Callers that ask at the same time share one statement.
#[derive(Clone)]
pub struct Answers {
    loader: Loader<(SiteId, AnswerKey), CachedAnswer, TeamId>,
    keeper: Gather<NewAnswer, bool, TeamId>,
}

const LOOKUPS: Bounds = Bounds {
    waiting: 4_096,
    waiting_bytes: 1 << 20,
    batch: 128,
    batch_bytes: 1 << 20,
    runners: 2,
};

const KEEPING: Bounds = Bounds {
    waiting: 4_096,
    waiting_bytes: 1 << 20,
    batch: 128,
    batch_bytes: 1 << 20,
    // New answers of one team wait for each other anyway.
    runners: 1,
};

impl Answers {
    /// Each team may have at most `most` answers. A new answer replaces the oldest.
    pub fn new(pool: &PgPool, most: u32) -> Self {
        Self {
            loader: Loader::shared(
                pool.clone(),
                "answers of providers",
                LOOKUPS,
                |pool, keys| async move { find(&pool, &keys).await },
            ),
            keeper: keeper(pool.clone(), KEEPING, most),
        }
    }

    /// A provider's answer about an equal text of this site, if it is not too old and the item that
    /// the provider saw still exists.
    ///
    /// # Errors
    /// The database could not be asked, or too many wait for it.
    pub async fn find(
        &self,
        team: TeamId,
        site: SiteId,
        key: AnswerKey,
    ) -> Result<Option<CachedAnswer>, Error> {
        self.loader.load_for(team, (site, key)).await
    }

    /// Keeps an answer, if the item's site wants that.
    ///
    /// # Errors
    /// The database could not be asked, or too many wait for it.
    pub async fn keep(&self, team: TeamId, answer: NewAnswer) -> Result<(), Error> {
        let weight = size_of::<NewAnswer>();
        let is_done = self.keeper.ask_for(team, answer, weight).await?;
        if is_done {
            Ok(())
        } else {
            Err(Error::Unavailable)
        }
    }
}

async fn find(
    pool: &PgPool,
    keys: &[(SiteId, AnswerKey)],
) -> Result<HashMap<(SiteId, AnswerKey), CachedAnswer>, Error> {
    let sites: Vec<Uuid> = keys.iter().map(|(site, _)| site.as_uuid()).collect();
    let hashes: Vec<Vec<u8>> = keys.iter().map(|(_, key)| key.0.to_vec()).collect();
    let rows = sqlx::query!(
        r#"
        select l.number as "number!", c.media_id as "media_id!", c.scores as "scores!: Json<Scores>"
        from unnest($1::uuid [], $2::bytea []) with ordinality as l (site_id, key, number)
        join sites s on s.id = l.site_id
        cross join lateral (
            select a.media_id, a.scores
            from cached_answers a
            join media m on m.id = a.media_id and m.body is not null
            where
                a.site_id = l.site_id and a.key = l.key
                and a.created_at > clock_timestamp() - make_interval(secs => s.answer_cache_seconds)
            order by a.created_at desc
            limit 1
        ) as c
        "#,
        &sites,
        &hashes,
    )
    .fetch_all(pool)
    .await?;
    let found = rows.into_iter().filter_map(|row| {
        let place = usize::try_from(row.number - 1).ok()?;
        let answer = CachedAnswer {
            media: row.media_id.into(),
            scores: row.scores.0,
        };
        Some((*keys.get(place)?, answer))
    });
    Ok(found.collect())
}

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
fn keeper(pool: PgPool, bounds: Bounds, most: u32) -> Gather<NewAnswer, bool, TeamId> {
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
async fn keep(pool: &PgPool, answers: &[&NewAnswer], most: u32) -> Result<(), Error> {
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

/// Removes answers that are too old, and returns how many. Other processes may do the same at the
/// same time.
pub(crate) async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    Ok(batches::until_none(Pace::Gentle, || forget_some(pool)).await?)
}

async fn forget_some(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let changed = sqlx::query!(
        "
        delete from cached_answers
        where ctid = any(
            array(
                select o.ctid
                from sites s
                cross join lateral (
                    select a.ctid
                    from cached_answers a
                    where
                        a.site_id = s.id
                        and a.created_at <= coalesce(
                            clock_timestamp() - make_interval(secs => s.answer_cache_seconds), 'infinity'
                        )
                    order by a.created_at
                    limit $1
                    for update skip locked
                ) as o
                limit $1
            )
        )
        ",
        ROWS,
    )
    .execute(pool)
    .await?;
    Ok(changed.rows_affected())
}

/// Removes all answers of a site.
pub(crate) async fn forget_of_site(
    conn: &mut PgConnection,
    site: SiteId,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from cached_answers where site_id = $1",
        site.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests;
