//! What a submission needs to know of its site, and the cache of it.
//!
//! The cache is never trusted: a submission is prepared from it for one revision of the site, and
//! the accepting statement admits it only if the key still works and the revision is still the
//! current one ([`crate::accept`]).

use std::{collections::HashMap, sync::Arc};

use domain::{
    event::EventKind,
    id::{EndpointId, GroupVersionId, RuleGroupId, SiteId, TeamId},
    key::SecretHash,
    media::{CompatUnchecked, StatusVocabulary},
    metadata_pointer::MetadataPointer,
};
use quick_cache::sync::Cache;
use sqlx::{PgPool, types::Json};
use uuid::Uuid;

use crate::{
    Error,
    gather::{Bounds, Loader},
};

/// One revision of a site: what submissions need to know of it.
#[derive(Clone, Debug)]
pub struct Site {
    /// The site.
    pub id: SiteId,
    /// Its team.
    pub team: TeamId,
    /// Counts the changes of everything else here.
    pub revision: i64,
    /// Whether it is closed, or being closed, so that nothing is accepted.
    pub is_closed: bool,
    /// The enabled endpoints.
    pub endpoints: Vec<Subscriber>,
    /// Where the metadata of its items has their author.
    pub author_pointer: Option<MetadataPointer>,
    /// Whether the endpoints for clients of other services keep items.
    pub compat_store: bool,
    /// What clients of OpenAI get for content of which something could not be checked.
    pub compat_unchecked: CompatUnchecked,
    /// How it wants statuses spelled.
    pub vocabulary: StatusVocabulary,
    /// What judges a submission that names no group.
    pub judges: Judges,
}

/// An enabled endpoint and the events that it wants.
#[derive(Clone, Debug)]
pub struct Subscriber {
    /// The endpoint.
    pub id: EndpointId,
    /// Its kinds of event.
    pub events: Vec<EventKind>,
}

/// The versions that judge a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judges {
    /// In the order in which they are evaluated.
    pub versions: Vec<GroupVersionId>,
    /// Whether any of them needs scores.
    pub uses_ai: bool,
}

/// Finds sites by key hash, and the groups that submissions name.
#[derive(Clone)]
pub struct Sites {
    by_key: Arc<Cache<SecretHash, Arc<Site>>>,
    groups: Arc<Cache<(SiteId, i64, RuleGroupId), Option<Judges>>>,
    loader: Loader<SecretHash, Arc<Site>>,
    pool: PgPool,
}

const CACHED_SITES: usize = 20_000;

const CACHED_GROUPS: usize = 20_000;

const BOUNDS: Bounds = Bounds {
    waiting: 8_192,
    waiting_bytes: 1 << 20,
    batch: 128,
    batch_bytes: 1 << 20,
    runners: 2,
};

impl Sites {
    /// Starts with an empty cache.
    pub fn new(pool: PgPool) -> Self {
        let loader = Loader::start(pool.clone(), "sites", BOUNDS, |pool, keys| async move {
            load(&pool, &keys).await
        });
        Self {
            by_key: Arc::new(Cache::new(CACHED_SITES)),
            groups: Arc::new(Cache::new(CACHED_GROUPS)),
            loader,
            pool,
        }
    }

    /// The site of this key, possibly an earlier revision. None: Postgres has just said that there
    /// is no such key.
    pub async fn find(&self, key: SecretHash) -> Result<Option<Arc<Site>>, Error> {
        if let Some(site) = self.by_key.get(&key) {
            return Ok(Some(site));
        }
        self.reload(key).await
    }

    /// The site of this key as Postgres knows it now.
    pub async fn reload(&self, key: SecretHash) -> Result<Option<Arc<Site>>, Error> {
        let site = self.loader.load(key).await?;
        match &site {
            Some(site) => self.by_key.insert(key, Arc::clone(site)),
            None => {
                self.by_key.remove(&key);
            }
        }
        Ok(site)
    }

    /// The live version of a group that a submission names; none if it is not its team's.
    pub async fn judges_of(
        &self,
        site: &Site,
        group: RuleGroupId,
    ) -> Result<Option<Judges>, Error> {
        let key = (site.id, site.revision, group);
        if let Some(judges) = self.groups.get(&key) {
            return Ok(judges);
        }
        let judges = live_version(&self.pool, site.team, group).await?;
        self.groups.insert(key, judges.clone());
        Ok(judges)
    }
}

async fn load(pool: &PgPool, keys: &[SecretHash]) -> Result<HashMap<SecretHash, Arc<Site>>, Error> {
    let hashes: Vec<Vec<u8>> = keys.iter().map(|key| key.as_bytes().to_vec()).collect();
    let rows = sqlx::query!(
        r#"
        select
            k.hash,
            s.id,
            s.team_id,
            s.revision,
            s.closure_id is not null as "is_closed!",
            s.author_pointer,
            s.compat_store,
            s.compat_unchecked,
            s.status_vocabulary,
            (
                select coalesce(json_agg(json_build_array(e.id, e.events) order by e.id), '[]')
                from webhook_endpoints e
                where e.site_id = s.id and e.disabled_at is null
            ) as "endpoints!: Json<Vec<(Uuid, Vec<EventKind>)>>",
            j.versions as "versions!",
            j.uses_ai as "uses_ai!"
        from site_keys k
        join sites s on s.id = k.site_id
        cross join lateral (
            select array_agg(v.id order by g.created_at, g.id) as versions, bool_or(v.uses_ai) as uses_ai
            from rule_groups g
            join rule_group_versions v on v.id = g.live_version_id
            where g.id = any(
                case when exists (select from site_rule_groups a where a.site_id = s.id)
                then array(select a.rule_group_id from site_rule_groups a where a.site_id = s.id)
                else array[s.default_rule_group_id] end
            )
        ) j
        where k.hash = any($1) and k.disabled_at is null
        "#,
        &hashes,
    )
    .fetch_all(pool)
    .await?;

    rows.into_iter()
        .map(|row| {
            let hash: [u8; 32] = row
                .hash
                .try_into()
                .map_err(|_| Error::Unreadable("a key hash of other than 32 bytes".into()))?;
            let author_pointer = row
                .author_pointer
                .map(MetadataPointer::try_from)
                .transpose();
            let author_pointer = author_pointer.map_err(|error| {
                Error::Unreadable(format!("the author pointer of site {} {error}", row.id))
            });
            let endpoints = row.endpoints.0.into_iter();
            let site = Site {
                id: row.id.into(),
                team: row.team_id.into(),
                revision: row.revision,
                is_closed: row.is_closed,
                endpoints: endpoints
                    .map(|(id, events)| Subscriber {
                        id: id.into(),
                        events,
                    })
                    .collect(),
                author_pointer: author_pointer?,
                compat_store: row.compat_store,
                compat_unchecked: row.compat_unchecked.parse()?,
                vocabulary: row.status_vocabulary.parse()?,
                judges: Judges {
                    versions: row.versions.into_iter().map(GroupVersionId::from).collect(),
                    uses_ai: row.uses_ai,
                },
            };
            Ok((SecretHash::from(hash), Arc::new(site)))
        })
        .collect()
}

async fn live_version(
    pool: &PgPool,
    team: TeamId,
    group: RuleGroupId,
) -> Result<Option<Judges>, Error> {
    let row = sqlx::query!(
        "
        select v.id, v.uses_ai
        from rule_groups g
        join rule_group_versions v on v.id = g.live_version_id
        where g.id = $1 and g.team_id = $2 and g.disabled_at is null
        ",
        group.as_uuid(),
        team.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    Ok(row.map(|row| Judges {
        versions: vec![row.id.into()],
        uses_ai: row.uses_ai,
    }))
}
