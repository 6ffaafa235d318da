//! Shadows: their answers are counted with the verdict.

use domain::{
    id::{GroupVersionId, MediaId},
    media::{ModerationType, Status},
    reach::Reach,
};
use sqlx::PgPool;
use store::{
    item_progress::Progress,
    page::Page,
    rule_group::{
        self, Authorship, NewVersion,
        shadow::{self, Shadowed},
    },
    verdict::Concluded,
};
use uuid::Uuid;

use crate::tenant::Tenant;

fn concluded(media: MediaId, status: Status, shadow: (GroupVersionId, Status)) -> Progress {
    Progress::from(Concluded {
        media,
        status,
        moderation_type: ModerationType::Rule,
        details: "{}".into(),
        trace: "{}".into(),
        shadows: vec![Shadowed {
            version: shadow.0,
            status: shadow.1,
            unscored: true,
        }],
    })
}

#[sqlx::test(migrations = false)]
async fn a_shadow_counts_with_the_verdict_and_not_without_it(pool: PgPool) {
    let team = Tenant::new(pool).await;
    let shadow = GroupVersionId::from(Uuid::now_v7());
    let (one, two, decided) = (team.item().await, team.item().await, team.item().await);
    team.judge(decided, Status::Approved).await;
    let effects = [
        concluded(one, Status::Approved, (shadow, Status::Rejected)),
        concluded(two, Status::Approved, (shadow, Status::Approved)),
        concluded(decided, Status::Approved, (shadow, Status::Rejected)),
    ];
    team.finish(&effects).await;
    // Once more, as when a worker comes back too late.
    team.finish(&effects).await;

    let mut conn = team.pool.acquire().await.unwrap();
    let counts = shadow::counts(&mut conn, shadow).await.unwrap();
    let count = |status| shadow::Count {
        live: Status::Approved,
        shadow: status,
        unscored: true,
        items: 1,
    };
    assert_eq!(counts, [count(Status::Approved), count(Status::Rejected)]);
    let all = Page {
        after: None,
        limit: 10,
    };
    let differences = shadow::differences(&mut conn, shadow, all).await.unwrap();
    assert_eq!(differences.len(), 1);
    assert_eq!(differences[0].media, one);

    sqlx::query("update shadow_differences set judged_at = now() - interval '31 days'")
        .execute(&team.pool)
        .await
        .unwrap();
    assert_eq!(shadow::forget_old(&team.pool).await.unwrap(), 1);
    assert_eq!(shadow::forget_old(&team.pool).await.unwrap(), 0);
}

#[sqlx::test(migrations = false)]
async fn only_the_shadows_of_an_items_own_groups_judge_it(pool: PgPool) {
    let team = Tenant::new(pool).await;
    let other = team.create_group("other").await;
    let mut tx = team.pool.begin().await.unwrap();
    let mut versions = Vec::new();
    for group in [team.group, other] {
        let group = rule_group::lock(&mut tx, Reach::Everything, group)
            .await
            .unwrap()
            .unwrap();
        let nothing = NewVersion {
            rules: &[],
            categories: &[],
        };
        let added =
            rule_group::add_version(&mut tx, group.id, nothing, Authorship::COMMAND_LINE).await;
        let added = added.unwrap();
        shadow::set(&mut tx, group.id, Some(added)).await.unwrap();
        versions.push((group.live, added));
    }
    tx.commit().await.unwrap();
    let item = team.item().await;
    sqlx::query("update media set group_versions = array[$1]")
        .bind(versions[0].0.as_uuid())
        .execute(&team.pool)
        .await
        .unwrap();
    let loader = store::verdict::loader(team.pool.clone());
    let loaded = loader.load(item).await.unwrap().unwrap();
    assert_eq!(loaded.shadows, [versions[0].1]);
}
