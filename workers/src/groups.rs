//! Compiled versions of rule groups, kept in memory within bounds. Versions never change, so nothing here is ever out of
//! date.

use std::sync::Arc;

use apalis::prelude::BoxDynError;
use domain::{
    id::{GroupVersionId, RuleGroupId},
    rules::{CompiledGroup, Rule},
};
use quick_cache::{Weighter, sync::Cache};
use store::{PgPool, rule_group};

/// Memory for compiled groups, in bytes.
const CACHE_BYTES: u64 = 256 << 20;
/// A guess of how many that are, for the cache's own tables.
const CACHE_ITEMS: usize = 1_000;

/// The versions that were asked for lately; clones are the same ones.
#[derive(Clone)]
pub(crate) struct Groups {
    compiled: Arc<Cache<GroupVersionId, Arc<CompiledGroup>, ByBytes>>,
    pool: PgPool,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<GroupVersionId, Arc<CompiledGroup>> for ByBytes {
    fn weight(&self, _: &GroupVersionId, group: &Arc<CompiledGroup>) -> u64 {
        group.approx_bytes() as u64
    }
}

impl Groups {
    /// Nothing is compiled yet.
    pub(crate) fn new(pool: PgPool) -> Self {
        let compiled = Cache::with_weighter(CACHE_ITEMS, CACHE_BYTES, ByBytes);
        Self {
            compiled: Arc::new(compiled),
            pool,
        }
    }

    /// A version, ready to judge.
    pub(crate) async fn version(
        &self,
        version: GroupVersionId,
    ) -> Result<Arc<CompiledGroup>, BoxDynError> {
        self.compiled
            .get_or_insert_async(&version, self.load(version))
            .await
    }

    /// Versions, in the same order.
    pub(crate) async fn versions(
        &self,
        versions: &[GroupVersionId],
    ) -> Result<Vec<Arc<CompiledGroup>>, BoxDynError> {
        let mut groups = Vec::with_capacity(versions.len());
        for version in versions {
            groups.push(self.version(*version).await?);
        }
        Ok(groups)
    }

    async fn load(&self, version: GroupVersionId) -> Result<Arc<CompiledGroup>, BoxDynError> {
        let found = rule_group::find_version(&self.pool, version).await?;
        let found = found.ok_or_else(|| format!("there is no rule group version {version}"))?;
        compile(found.group, found.id, found.rules).await
    }
}

/// Compiles rules. Ten thousand keywords take a while: not on a thread that serves others.
pub(crate) async fn compile(
    group: RuleGroupId,
    version: GroupVersionId,
    rules: Vec<Rule>,
) -> Result<Arc<CompiledGroup>, BoxDynError> {
    let compiled =
        tokio::task::spawn_blocking(move || CompiledGroup::compile(group, version, &rules))
            .await??;
    Ok(Arc::new(compiled))
}
