//! What becomes of an item that cannot be judged at once.

use domain::{id::TeamId, media::OnFailure};
use queue::Waits;
use sqlx::PgPool;
use store::{item_progress::Stage, schema};
use uuid::Uuid;

use super::*;
use crate::{RuleSettings, provider::Providers, rule_pool::RulePool};

fn item(held: bool) -> ToAnalyse {
    ToAnalyse {
        media: Uuid::now_v7().into(),
        trace: telemetry::trace::Context::of_item([7; 16]),
        team: TeamId::from(Uuid::now_v7()),
        site: Uuid::now_v7().into(),
        text: Some(Arc::from("text")),
        has_picture: false,
        image_matches: Vec::new(),
        group_versions: Vec::new(),
        shadows: Vec::new(),
        on_failure: OnFailure::Review,
        has_image: false,
        image_problem: None,
        rules_are_held: held,
        wanted: Vec::new(),
        preferred: None,
        policy: None,
        answers_hold: None,
        parts: Vec::new(),
        pieces: Vec::new(),
        age: Duration::ZERO,
    }
}

/// Analyses and judges, one item at a time.
fn analyst(pool: &PgPool) -> Analyst {
    let rule_pool = RulePool::new(RuleGroupCache::new(pool.clone(), RuleSettings::default()));
    let providers: Providers = Arc::new([]);
    Analyst::new(
        pool.clone(),
        Arc::new(ConfiguredProviders::new(
            &providers,
            pool.clone(),
            Waits::default(),
        )),
        rule_pool.groups().clone(),
        Duration::ZERO,
        0,
        DecodePool::default(),
        Some(Verdicts::new(rule_pool, 1)),
    )
}

async fn judged(analyst: &Analyst, item: &ToAnalyse, started: Instant) -> Stage {
    let analysed = ModalityAnalysis::end(item, ModalityAnalysis::of(item, false, &[]));
    analyst.judge_at_once(item, analysed, started).await
}

#[sqlx::test(migrations = false)]
async fn what_cannot_be_judged_now_keeps_its_analysis_and_waits_for_the_rules(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let now = Instant::now();
    let one = analyst(&pool);
    let stage = judged(&one, &item(false), now).await;
    assert!(matches!(
        stage,
        Stage::Judged {
            analysed: Some(_),
            ..
        }
    ));

    let stage = judged(&one, &item(true), now).await;
    assert!(
        matches!(
            stage,
            Stage::Analysed {
                wait: Duration::ZERO,
                ..
            }
        ),
        "the rules are held"
    );

    // There is no such version.
    let mut broken = item(false);
    broken.group_versions.push(Uuid::now_v7().into());
    let stage = judged(&one, &broken, now).await;
    assert!(
        matches!(
            stage,
            Stage::Analysed {
                wait: Duration::ZERO,
                ..
            }
        ),
        "an error"
    );

    let long_ago = now.checked_sub(ASKING).unwrap();
    let stage = judged(&one, &item(false), long_ago).await;
    assert!(
        matches!(
            stage,
            Stage::Analysed {
                wait: Duration::ZERO,
                ..
            }
        ),
        "no time is left"
    );

    // Its job waits for as long as the place said.
    let other = TeamId::from(Uuid::now_v7());
    let verdicts = one.verdicts.as_ref().unwrap();
    let Ok(_place) = verdicts.take_slot(other).await else {
        panic!("nobody had it");
    };
    let stage = judged(&one, &item(false), now).await;
    let Stage::Analysed { wait, .. } = stage else {
        panic!("there is no place");
    };
    assert!(!wait.is_zero());
}
