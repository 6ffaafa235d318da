//! What a submission needs to know of its site, and the cache of it.
//!
//! The cache is never trusted: a submission is prepared from it for one revision of the site, and
//! the accepting statement admits it only if the key still works and the revision is still the
//! current one ([`crate::accept`]).

mod load;

use std::sync::Arc;

use domain::{
    event::EventKind,
    id::{EndpointId, GroupVersionId, RuleGroupId, SiteId, TeamId},
    key::SecretHash,
    media::{CompatUnchecked, StatusVocabulary},
    metadata_pointer::MetadataPointer,
};
use quick_cache::sync::Cache;
use sqlx::PgPool;

use self::load::{live_version, load};
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
