//! Providers' answers about whole texts. They are kept for as long as the site wants, so that the
//! providers are not asked again about equal texts of the same site. A lost answer costs one
//! request and nothing else.

mod insert;
mod retention;

use std::collections::HashMap;

use domain::{
    id::{MediaId, SiteId, TeamId},
    score::Scores,
};
use sqlx::{PgPool, types::Json};
use uuid::Uuid;

pub use self::insert::NewAnswer;
pub(crate) use self::retention::{forget_of_site, forget_old};
use crate::{
    Error,
    gather::{Bounds, Gather, Loader},
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
            keeper: insert::keeper(pool.clone(), KEEPING, most),
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

#[cfg(test)]
mod tests;
