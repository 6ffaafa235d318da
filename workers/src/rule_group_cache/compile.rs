//! Loads a group's rules and compiles them, when it is the team's turn.

use std::sync::Arc;

use apalis::prelude::BoxDynError;
use cpu_pool::thread_time;
use domain::{
    id::{GroupVersionId, RuleGroupId, TeamId},
    rules::{CompiledGroup, Rule},
};
use fair_share::Limit;
use store::{backtest::slice, rule_group};
use tracing::{error, warn};

use super::{
    Shared,
    compiled::{Compiled, Key, TooHeavy},
};
use crate::lock::lock;

/// Rules, and what compiling them needs.
struct Loaded {
    group: RuleGroupId,
    version: GroupVersionId,
    name: String,
    rules: Vec<Rule>,
}

impl Shared {
    /// Loads and compiles a group when it is the team's turn, and keeps the result.
    pub(super) async fn compile(&self, team: TeamId, key: Key) -> Result<Compiled, BoxDynError> {
        let slot = self.slots.take(team, 1, Limit::Fair).await;
        // The rules may take megabytes, so they are loaded only now.
        let Loaded {
            group,
            version,
            name,
            rules,
        } = self.load(key).await?;
        let limits = self.limits;
        let compiling = self.compiler.run(move || {
            let compiled =
                CompiledGroup::compile_within(group, version, &rules, limits, &thread_time);
            drop(rules);
            drop(slot);
            compiled
        });
        let compiled = match compiling.await? {
            Ok(compiled) => Compiled::Ready(Arc::new(compiled)),
            Err(errors) if errors.is_too_heavy() => {
                warn!(%errors, rule_group.id = %group, version.id = %version,
                    "a rule group is too large to judge; its items follow their site's `on_failure`");
                Compiled::TooHeavy(Arc::new(TooHeavy { group, name }))
            }
            Err(errors) => {
                error!(%errors, rule_group.id = %group, version.id = %version, "stored rules do not compile");
                return Err(errors.into());
            }
        };
        let bytes = compiled.bytes();
        let evicted = lock(&self.kept).insert(key, team, compiled.clone(), bytes);
        // Freeing memory takes a while, so it happens without the lock.
        drop(evicted);
        Ok(compiled)
    }

    async fn load(&self, key: Key) -> Result<Loaded, BoxDynError> {
        match key {
            Key::Version(version) => {
                let found = rule_group::find_version(&self.pool, version).await?;
                let found =
                    found.ok_or_else(|| format!("there is no rule group version {version}"))?;
                Ok(Loaded {
                    group: found.group,
                    version,
                    name: found.name,
                    rules: found.rules,
                })
            }
            Key::Backtest(backtest) => {
                let replay = slice::rules(&self.pool, backtest).await?;
                let replay = replay.ok_or("there is no such backtest")?;
                Ok(Loaded {
                    group: replay.group,
                    version: replay.version,
                    name: String::new(),
                    rules: replay.rules,
                })
            }
        }
    }
}
