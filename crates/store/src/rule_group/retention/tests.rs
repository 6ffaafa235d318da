//! Unused versions are removed, and no others.

use domain::{
    actor::Actor,
    id::{GroupVersionId, RuleGroupId, SiteId, TeamId},
    reach::Reach,
};

use super::*;
use crate::{
    encryption::MasterKey,
    plan,
    rule_group::{self, Authorship, NewVersion, shadow, stored_of_late},
    schema, site, team,
};

const NO_RULES: NewVersion<'_> = NewVersion {
    rules: &[],
    categories: &[],
};
const DAYS_90: Duration = Duration::from_hours(90 * 24);

struct Fixture {
    pool: PgPool,
    team: TeamId,
    group: RuleGroupId,
    site: SiteId,
}

impl Fixture {
    async fn new(pool: PgPool) -> Self {
        schema::migrate(&pool).await.unwrap();
        let mut tx = pool.begin().await.unwrap();
        let team = team::create(&mut tx, &"team".parse().unwrap(), plan::UNLIMITED)
            .await
            .unwrap()
            .id;
        let group = rule_group::create(&mut tx, team, "rules", NO_RULES)
            .await
            .unwrap();
        let key = MasterKey::new([7; 32]);
        let (site, _) = site::create(&mut tx, &key, team, "site", group)
            .await
            .unwrap();
        tx.commit().await.unwrap();
        Self {
            pool,
            team,
            group,
            site,
        }
    }

    /// A version that was made so many days ago. With `live`, it was live from then on.
    async fn version(&self, days: i32, live: bool) -> GroupVersionId {
        let mut tx = self.pool.begin().await.unwrap();
        let authorship = Authorship::COMMAND_LINE;
        let version = rule_group::add_version(&mut tx, self.group, NO_RULES, authorship)
            .await
            .unwrap();
        if live {
            self.go_live(&mut tx, version, days).await;
        }
        sqlx::query("update rule_group_versions set created_at = now() - make_interval(days => $2) where id = $1")
            .bind(version.as_uuid())
            .bind(days)
            .execute(&mut *tx)
            .await
            .unwrap();
        tx.commit().await.unwrap();
        version
    }

    async fn go_live(&self, conn: &mut PgConnection, version: GroupVersionId, days: i32) {
        rule_group::set_live(conn, self.group, version, Actor::CommandLine)
            .await
            .unwrap();
        sqlx::query(
            "update rule_group_publications set published_at = now() - make_interval(days => $2)
             where id = (select id from rule_group_publications where version_id = $1 order by id desc limit 1)",
        )
        .bind(version.as_uuid())
        .bind(days)
        .execute(&mut *conn)
        .await
        .unwrap();
    }

    /// Items that were accepted one second apart, from so many days ago on, as every binary stores
    /// them.
    async fn items(&self, days: i32, items: i32, version: GroupVersionId) {
        sqlx::query(
            "insert into media (id, team_id, site_id, content_type, group_versions)
             select
                 (
                     lpad(to_hex((extract(epoch from now() - make_interval(days => $1, secs => -n)) * 1000)::bigint), 12, '0')
                     || '7000800000' || lpad(to_hex(n), 10, '0')
                 )::uuid,
                 $2, $3, 'text', array[$4]
             from generate_series(1, $5) n",
        )
        .bind(days)
        .bind(self.team.as_uuid())
        .bind(self.site.as_uuid())
        .bind(version.as_uuid())
        .bind(items)
        .execute(&self.pool)
        .await
        .unwrap();
    }

    async fn left(&self) -> Vec<Uuid> {
        sqlx::query_scalar("select id from rule_group_versions order by number")
            .fetch_all(&self.pool)
            .await
            .unwrap()
    }
}

#[sqlx::test(migrations = false)]
async fn case_38_versions_that_nothing_refers_to_are_removed_and_no_others(pool: PgPool) {
    let team = Fixture::new(pool).await;
    sqlx::query("update rule_group_versions set created_at = now() - interval '300 days'")
        .execute(&team.pool)
        .await
        .unwrap();
    sqlx::query("update rule_group_publications set published_at = now() - interval '300 days'")
        .execute(&team.pool)
        .await
        .unwrap();
    let first = GroupVersionId::from(team.left().await[0]);
    let unused = team.version(290, true).await;
    let in_shadow = team.version(285, false).await;
    let never_live = team.version(284, false).await;
    let tried = team.version(283, false).await;
    let busy = team.version(280, true).await;
    let back = team.version(270, true).await;
    let recent = team.version(120, true).await;
    // An older version became live again.
    let mut conn = team.pool.acquire().await.unwrap();
    team.go_live(&mut conn, back, 110).await;
    let lately = team.version(100, true).await;
    let young = team.version(20, true).await;
    let live = team.version(10, true).await;
    let newest = team.version(9, false).await;
    shadow::set(&mut conn, team.group, Some(in_shadow))
        .await
        .unwrap();
    sqlx::query(
        "insert into backtests (id, team_id, rule_group_id, version_id, rules, until, item_limit, total)
         values ($1, $2, $3, $4, '[]', now(), 1, 0)",
    )
    .bind(Uuid::now_v7())
    .bind(team.team.as_uuid())
    .bind(team.group.as_uuid())
    .bind(tried.as_uuid())
    .execute(&team.pool)
    .await
    .unwrap();
    // Items name other versions from the time when these were live. One item, after all others,
    // does not.
    team.items(299, 1, first).await;
    team.items(289, 3, first).await;
    team.items(279, 12_000, first).await;
    team.items(278, 1, busy).await;
    team.items(109, 1, back).await;
    team.items(119, 5, first).await;

    assert_eq!(forget_unused(&team.pool, DAYS_90).await.unwrap(), 3);
    let left = team.left().await;
    for gone in [unused, never_live, recent] {
        assert!(!left.contains(&gone.as_uuid()));
    }
    let kept = [
        first, in_shadow, tried, busy, back, lately, young, live, newest,
    ];
    let kept: Vec<Uuid> = kept.iter().map(|version| version.as_uuid()).collect();
    let mut sorted = kept.clone();
    sorted.sort_unstable();
    let mut there = left.clone();
    there.sort_unstable();
    assert_eq!(there, sorted);

    // The history names what is there.
    let publications: i64 = sqlx::query_scalar("select count(*) from rule_group_publications")
        .fetch_one(&team.pool)
        .await
        .unwrap();
    assert_eq!(publications, 7);
    assert_eq!(forget_unused(&team.pool, DAYS_90).await.unwrap(), 0);
    // Now nothing refers to `in_shadow`. `lately` was live until 20 days ago.
    shadow::set(&mut conn, team.group, None).await.unwrap();
    assert_eq!(forget_unused(&team.pool, DAYS_90).await.unwrap(), 1);
    assert!(!team.left().await.contains(&in_shadow.as_uuid()));
}

#[sqlx::test(migrations = false)]
async fn case_38_what_somebody_is_about_to_publish_stays(pool: PgPool) {
    let team = Fixture::new(pool).await;
    let old = team.version(200, false).await;
    team.version(150, true).await;
    let mut tx = team.pool.begin().await.unwrap();
    rule_group::lock(&mut tx, Reach::Everything, team.group)
        .await
        .unwrap();
    assert_eq!(forget_unused(&team.pool, DAYS_90).await.unwrap(), 0);
    rule_group::set_live(&mut tx, team.group, old, Actor::CommandLine)
        .await
        .unwrap();
    tx.commit().await.unwrap();
    assert_eq!(forget_unused(&team.pool, DAYS_90).await.unwrap(), 0);
    assert!(team.left().await.contains(&old.as_uuid()));
}

#[sqlx::test(migrations = false)]
async fn what_a_team_stored_of_late_is_counted_in_bytes_on_disk(pool: PgPool) {
    let team = Fixture::new(pool).await;
    let mut conn = team.pool.acquire().await.unwrap();
    let before = stored_of_late(&mut conn, team.team).await.unwrap();
    assert!((1..100).contains(&before), "{before}");
    let version = team.version(0, false).await;
    sqlx::query("update rule_group_versions set rules = to_json(array(select gen_random_uuid() from generate_series(1, 1000))) where id = $1")
        .bind(version.as_uuid())
        .execute(&mut *conn)
        .await
        .unwrap();
    let after = stored_of_late(&mut conn, team.team).await.unwrap();
    assert!(after > before + 16_000, "{after}");
    let another = TeamId::from(Uuid::now_v7());
    assert_eq!(stored_of_late(&mut conn, another).await.unwrap(), 0);
    team.version(2, false).await;
    assert!(stored_of_late(&mut conn, team.team).await.unwrap() <= after);
}
