//! Groups from the database to what is kept.

use std::{sync::Arc, time::Duration};

use domain::{
    id::{GroupVersionId, TeamId},
    reach::Reach,
    rules::{Rule, RuleBody},
};
use futures::future::join_all;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{
    plan,
    rule_group::{self, NewVersion},
    schema, team,
};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::*;

/// Tests are compiled without optimisations.
const SETTINGS: RuleSettings = RuleSettings {
    limits: Limits {
        bytes: 64 << 20,
        time: Duration::from_mins(2),
    },
    kept_bytes: 128 << 20,
};

pub(crate) async fn new_team(pool: &PgPool, name: &str) -> TeamId {
    let mut conn = pool.acquire().await.unwrap();
    let name = name.parse().unwrap();
    let team = team::create(&mut conn, &name, plan::UNLIMITED);
    team.await.unwrap().id
}

/// The live version of a new group with these rules, as if a release with other limits had taken them.
pub(crate) async fn new_version(pool: &PgPool, team: TeamId, rules: Vec<Value>) -> GroupVersionId {
    let rules: Vec<Rule> = rules
        .into_iter()
        .map(|rule| {
            let body: RuleBody = serde_json::from_value(rule).unwrap();
            body.into_rule(Uuid::now_v7().into())
        })
        .collect();
    let version = NewVersion {
        rules: &rules,
        categories: &[],
    };
    let mut tx = pool.begin().await.unwrap();
    let name = Uuid::now_v7().to_string();
    let group = rule_group::create(&mut tx, team, &name, version);
    let group = group.await.unwrap();
    tx.commit().await.unwrap();
    let mut conn = pool.acquire().await.unwrap();
    let found = rule_group::find(&mut conn, Reach::Team(team), group).await;
    found.unwrap().unwrap().live
}

pub(crate) fn regex(pattern: &str) -> Value {
    json!({"name": "r", "type": "regex", "pattern": pattern, "effect": "reject"})
}

async fn groups(pool: &PgPool) -> (RuleGroupCache, TeamId) {
    schema::migrate(pool).await.unwrap();
    (
        RuleGroupCache::new(pool.clone(), SETTINGS),
        new_team(pool, "team").await,
    )
}

#[sqlx::test(migrations = false)]
async fn case_36_a_version_is_compiled_once_for_all_who_ask_at_once(pool: PgPool) {
    let (groups, team) = groups(&pool).await;
    let version = new_version(&pool, team, vec![regex("a\\w{20}")]).await;
    let asking = (0..20).map(|_| groups.compiled(team, Key::Version(version)));
    let all: Vec<_> = join_all(asking)
        .await
        .into_iter()
        .map(|compiled| match compiled.unwrap() {
            Compiled::Ready(group) => group,
            Compiled::TooHeavy(heavy) => panic!("{heavy:?}"),
        })
        .collect();
    assert!(all.iter().all(|group| Arc::ptr_eq(group, &all[0])));
}

#[sqlx::test(migrations = false)]
async fn case_36_what_was_compiled_for_a_job_that_gave_up_is_there_for_its_retry(pool: PgPool) {
    let (groups, team) = groups(&pool).await;
    let version = Key::Version(new_version(&pool, team, vec![regex("a\\w{20}")]).await);
    let gave_up = timeout(Duration::ZERO, groups.compiled(team, version)).await;
    assert!(gave_up.is_err());
    // Nobody asks any more.
    while groups.kept(version).is_none() {
        sleep(Duration::from_millis(10)).await;
    }
    assert!(lock(&groups.shared.flights).is_empty());
}

#[sqlx::test(migrations = false)]
async fn case_36_a_version_that_is_too_heavy_is_remembered_and_says_so(pool: PgPool) {
    let (groups, team) = groups(&pool).await;
    let version = new_version(&pool, team, vec![regex("\\w{190}"); 40]).await;
    let compiled = groups.compiled(team, Key::Version(version)).await;
    assert!(matches!(compiled.unwrap(), Compiled::TooHeavy(_)));
    let Some(Compiled::TooHeavy(heavy)) = groups.kept(Key::Version(version)) else {
        panic!("it would be compiled again for the next item");
    };
    let told = heavy.unchecked().to_string();
    assert!(told.contains(&heavy.name), "{told}");
}

#[sqlx::test(migrations = false)]
async fn a_version_that_is_not_there_is_an_error_and_is_looked_for_again(pool: PgPool) {
    let (groups, team) = groups(&pool).await;
    let version = Key::Version(Uuid::now_v7().into());
    for _ in 0..2 {
        let error = groups.compiled(team, version).await.err().unwrap();
        assert!(error.to_string().contains("no rule group version"));
    }
    assert!(groups.kept(version).is_none());
}
