//! Removes versions that nothing refers to, when they have not been live for long enough.
//!
//! A version stays that is live, a group's shadow or newest version, or named by a backtest, and one that an item is judged by.
//! Items name their versions, but no version names its items, and no item's acceptance writes to its versions: that would cost
//! every submission. So each version is looked at once, when it is old. Only items that were accepted while it was live can name
//! it: its publications tell when that was, whichever binary stored the item. The index of a site's items by time finds them.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use domain::id::TeamId;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::{Error, id_time::ids_within};

/// Versions that one run looks at, at most.
const VERSIONS: usize = 200;
/// Items that one statement looks through,
const SLICE: i64 = 5_000;
/// and all statements about one version. A version that was live for more items stays.
const ITEMS: i64 = 100_000;
/// Publishing may take this long from the time that is recorded to its commit.
const COMMIT: TimeDelta = TimeDelta::hours(1);

/// A version that may be removed.
struct Old {
    id: Uuid,
    group: Uuid,
    team: Uuid,
    created_at: DateTime<Utc>,
    /// From when on it was live for the first time; none: never.
    since: Option<DateTime<Utc>>,
    /// When another version followed it for the last time.
    until: Option<DateTime<Utc>>,
}

/// Removes unused versions that were neither made nor live within `age`, and says how many. Others may do the same at the same
/// time: a version that somebody looks at is locked, and passed over.
pub(crate) async fn forget_unused(pool: &PgPool, age: Duration) -> Result<u64, Error> {
    let mut removed = 0;
    let mut after = (DateTime::UNIX_EPOCH, Uuid::nil());
    for _ in 0..VERSIONS {
        let mut tx = pool.begin().await?;
        let Some(old) = next(&mut tx, age, after).await? else {
            break;
        };
        after = (old.created_at, old.id);
        if is_pinned(&mut tx, &old).await? {
            keep(&mut tx, &old).await?;
        } else if lock_group(&mut tx, &old).await? && remove(&mut tx, &old).await? {
            removed += 1;
        }
        tx.commit().await?;
    }
    Ok(removed)
}

/// The next version that was neither made nor live within `age`, and that nothing but items can refer to.
async fn next(
    conn: &mut PgConnection,
    age: Duration,
    after: (DateTime<Utc>, Uuid),
) -> Result<Option<Old>, sqlx::Error> {
    sqlx::query_as!(
        Old,
        r#"
        select v.id, v.rule_group_id as "group", g.team_id as team, v.created_at, live.since, live.until
        from rule_group_versions v
        join rule_groups g on g.id = v.rule_group_id
        cross join lateral (
            select
                min(p.published_at) as since,
                max(
                    coalesce(
                        (
                            select n.published_at
                            from rule_group_publications n
                            where n.rule_group_id = p.rule_group_id and n.published_at > p.published_at
                            order by n.published_at
                            limit 1
                        ),
                        now()
                    )
                ) as until
            from rule_group_publications p
            where p.version_id = v.id
        ) live
        where
            v.kept is null
            and v.created_at <= now() - $1::float8 * interval '1 second'
            and (v.created_at, v.id) > ($2, $3)
            and v.id <> g.live_version_id
            and v.id is distinct from g.shadow_version_id
            and (live.until is null or live.until <= now() - $1::float8 * interval '1 second')
            and not exists (select from backtests b where b.version_id = v.id)
            -- Its number must not be given again.
            and exists (
                select from rule_group_versions newer
                where newer.rule_group_id = v.rule_group_id and newer.number > v.number
            )
        order by v.created_at, v.id
        limit 1
        for no key update of v skip locked
        "#,
        age.as_secs_f64(),
        after.0,
        after.1,
    )
    .fetch_optional(conn)
    .await
}

/// Whether an item is judged by it; also when that takes too long to find out.
async fn is_pinned(conn: &mut PgConnection, old: &Old) -> Result<bool, sqlx::Error> {
    let (Some(since), Some(until)) = (old.since, old.until) else {
        return Ok(false);
    };
    let (from, before) = ids_within(Some(since), Some(until + COMMIT));
    let mut left = ITEMS;
    for site in sites(conn, old.team.into()).await? {
        let mut from = from;
        loop {
            let slice = look_through(conn, old.id, site, from, before).await?;
            left -= slice.items;
            if slice.pinned || left <= 0 {
                return Ok(true);
            }
            match slice.last {
                // Ids are 128-bit numbers; nothing follows the greatest.
                Some(last) if slice.items == SLICE => {
                    from = Uuid::from_u128(last.as_u128().saturating_add(1));
                }
                Some(_) | None => break,
            }
        }
    }
    Ok(false)
}

async fn sites(conn: &mut PgConnection, team: TeamId) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "select id from sites where team_id = $1 order by id",
        team.as_uuid()
    )
    .fetch_all(conn)
    .await
}

/// Some items of a site.
struct Slice {
    items: i64,
    pinned: bool,
    last: Option<Uuid>,
}

async fn look_through(
    conn: &mut PgConnection,
    version: Uuid,
    site: Uuid,
    from: Uuid,
    before: Uuid,
) -> Result<Slice, sqlx::Error> {
    sqlx::query_as!(
        Slice,
        r#"
        select
            count(*) as "items!",
            coalesce(bool_or($1 = any(m.group_versions)), false) as "pinned!",
            (array_agg(m.id order by m.id desc))[1] as last
        from (
            select id, group_versions
            from media
            where site_id = $2 and id >= $3 and id < $4
            order by site_id, id
            limit $5
        ) m
        "#,
        version,
        site,
        from,
        before,
        SLICE,
    )
    .fetch_one(conn)
    .await
}

/// It stays, and is not looked at again.
async fn keep(conn: &mut PgConnection, old: &Old) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update rule_group_versions set kept = true where id = $1",
        old.id
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Whoever publishes a version or makes it a shadow holds this lock; then this one is looked at another time.
async fn lock_group(conn: &mut PgConnection, old: &Old) -> Result<bool, sqlx::Error> {
    let locked = sqlx::query_scalar!(
        "select id from rule_groups where id = $1 for no key update skip locked",
        old.group
    )
    .fetch_optional(conn)
    .await?;
    Ok(locked.is_some())
}

/// Removes it with its place in the group's history, unless something has begun to refer to it.
async fn remove(conn: &mut PgConnection, old: &Old) -> Result<bool, sqlx::Error> {
    let is_free = sqlx::query_scalar!(
        r#"
        select
            g.live_version_id <> $2 and g.shadow_version_id is distinct from $2
            and not exists (select from backtests b where b.version_id = $2)
            and not exists (
                select from rule_group_publications p
                where p.version_id = $2 and ($3::timestamptz is null or p.published_at >= $3)
            ) as "is_free!"
        from rule_groups g
        where g.id = $1
        "#,
        old.group,
        old.id,
        old.until,
    )
    .fetch_one(&mut *conn)
    .await?;
    if !is_free {
        return Ok(false);
    }
    sqlx::query!(
        "
        with
        publications as (delete from rule_group_publications where version_id = $1),
        counts as (delete from shadow_counts where version_id = $1),
        differences as (delete from shadow_differences where version_id = $1)
        delete from rule_group_versions where id = $1
        ",
        old.id,
    )
    .execute(conn)
    .await?;
    Ok(true)
}

/// Bytes of rules that a team has stored within the last 24 hours, in versions and backtests, as they lie on disk.
pub async fn stored_of_late(conn: &mut PgConnection, team: TeamId) -> Result<i64, Error> {
    let bytes = sqlx::query_scalar!(
        r#"
        select
            (
                select coalesce(sum(pg_column_size(v.rules)), 0)
                from rule_group_versions v
                join rule_groups g on g.id = v.rule_group_id
                where v.kept is null and v.created_at > now() - interval '24 hours' and g.team_id = $1
            ) + (
                select coalesce(sum(pg_column_size(b.rules)), 0)
                from backtests b
                where b.created_at > now() - interval '24 hours' and b.team_id = $1
            ) as "bytes!"
        "#,
        team.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use domain::{
        actor::Actor,
        id::{GroupVersionId, RuleGroupId, SiteId},
        reach::Reach,
    };

    use super::*;
    use crate::{
        plan,
        rule_group::{self, Authorship, NewVersion, shadow},
        schema,
        seal::MasterKey,
        site, team,
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

        /// A version that was made so many days ago, and was live from then on if it is to be.
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

        /// Items that were accepted a second after each other, from so many days ago on, as any binary stores them.
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
        sqlx::query(
            "update rule_group_publications set published_at = now() - interval '300 days'",
        )
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
        // An older version was live once more.
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
        // Items name other versions while these were live, and one, behind all others, does not.
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
        // What was in the way has gone: `lately` was live until 20 days ago.
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
}
