//! Closures: what they disable, what cancelling opens again, what they wait for, and what is left at the end.

mod ending;

use std::{collections::BTreeMap, time::Duration};

use domain::{
    actor::Actor,
    closure::{ClosureState, GraceDays, WaitsFor},
    id::{ClosureId, SiteId},
    media::Status,
    reach::Reach,
};
use sqlx::PgPool;
use store::{
    chain::Next,
    closure::{
        self, Closing, Closure, NewClosure, NotCreated,
        slice::{self, Slice},
    },
    export::{self, NewExport},
    key_rotation,
    site::webhook_secret,
};
use uuid::Uuid;

use super::erasures::master_key;
use crate::tenant::Tenant;

const MONTH: GraceDays = GraceDays::of::<30>();
const NONE: GraceDays = GraceDays::of::<0>();

impl Tenant {
    async fn try_to_close(
        &self,
        site: Option<SiteId>,
        grace: GraceDays,
    ) -> Result<ClosureId, NotCreated> {
        let mut tx = self.pool.begin().await.unwrap();
        let new = NewClosure {
            team: self.team,
            site,
            grace,
            by: Actor::Token(self.token),
        };
        let (id, jobs) = closure::create(&mut tx, new).await.unwrap()?;
        tx.commit().await.unwrap();
        assert_eq!(jobs.len(), 1);
        Ok(id)
    }

    async fn close(&self, site: Option<SiteId>, grace: GraceDays) -> ClosureId {
        self.try_to_close(site, grace).await.unwrap()
    }

    async fn cancel_closure(&self, id: ClosureId) -> bool {
        let mut tx = self.pool.begin().await.unwrap();
        let cancelled = closure::cancel(&mut tx, id).await.unwrap();
        tx.commit().await.unwrap();
        cancelled
    }

    async fn closure(&self, id: ClosureId) -> Closure {
        let mut conn = self.pool.acquire().await.unwrap();
        let found = closure::find(&mut conn, Reach::Team(self.team), id).await;
        found.unwrap().unwrap()
    }

    async fn next(&self, id: ClosureId) -> Next<Box<Slice>> {
        slice::next(&self.pool, &master_key(), id).await.unwrap()
    }

    /// Does the next step, once all transactions have ended that other tests run on the same server, and its erasure has ended.
    /// False: it has ended.
    async fn step(&self, id: ClosureId) -> bool {
        loop {
            match self.next(id).await {
                Next::Nothing => return false,
                Next::Later(left) => {
                    assert!(left < Duration::from_secs(10), "the grace is not over");
                    let erasures = self.closure(id).await.sites.into_iter();
                    for erasure in erasures.filter_map(|site| site.erasure) {
                        self.run_erasure(erasure).await;
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Next::Slice(step) => {
                    self.finish(&[step]).await;
                    return true;
                }
            }
        }
    }

    async fn run_closure(&self, id: ClosureId) -> Closure {
        while self.step(id).await {}
        let ended = self.closure(id).await;
        assert_eq!(ended.state, ClosureState::Closed, "{ended:?}");
        ended
    }

    /// The closures of the sites, by their names, without those that are open.
    async fn closing(&self) -> Vec<(String, ClosureId)> {
        let rows: Vec<(String, Uuid)> = sqlx::query_as(
            "select name, closure_id from sites where team_id = $1 and closure_id is not null order by name",
        )
        .bind(self.team.as_uuid())
        .fetch_all(&self.pool)
        .await
        .unwrap();
        rows.into_iter()
            .map(|(name, closure)| (name, closure.into()))
            .collect()
    }

    async fn hold(&self, site: SiteId) -> Uuid {
        sqlx::query_scalar(
            "insert into legal_holds (id, team_id, site_id, author, reason)
             values (gen_random_uuid(), $1, $2, 'anna', 'about anna')
             returning id",
        )
        .bind(self.team.as_uuid())
        .bind(site.as_uuid())
        .fetch_one(&self.pool)
        .await
        .unwrap()
    }

    async fn lift(&self, hold: Uuid) {
        let mut conn = self.pool.acquire().await.unwrap();
        assert!(
            store::legal_hold::lift(&mut conn, hold.into())
                .await
                .unwrap()
        );
    }

    /// How many rows of each table name this site.
    async fn rows_of_site(&self, site: SiteId) -> BTreeMap<String, i64> {
        let tables: Vec<String> = sqlx::query_scalar(
            "select c.table_name::text
             from information_schema.columns c
             join information_schema.tables t using (table_schema, table_name)
             where c.table_schema = 'public' and c.column_name = 'site_id' and t.table_type = 'BASE TABLE'",
        )
        .fetch_all(&self.pool)
        .await
        .unwrap();
        let mut rows = BTreeMap::new();
        for table in tables {
            let statement = format!("select count(*) from {table} where site_id = $1");
            let count: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
                .bind(site.as_uuid())
                .fetch_one(&self.pool)
                .await
                .unwrap();
            rows.insert(table, count);
        }
        rows
    }

    /// The row of a site with all that names it.
    async fn all_of_site(&self, site: SiteId) -> (String, BTreeMap<String, i64>) {
        let row = sqlx::query_scalar("select s::text from sites s where id = $1")
            .bind(site.as_uuid())
            .fetch_one(&self.pool)
            .await
            .unwrap();
        (row, self.rows_of_site(site).await)
    }
}

/// Something in every table that can have something of a site beside its items.
async fn furnish(team: &Tenant, site: SiteId) {
    let statements = format!(
        "
        update sites set providers = '{{a}}', policy = 'secret policy', author_pointer = '/secret', answer_cache_seconds = 60,
            name = 'secret ' || id
        where id = '{site}';
        insert into site_keys (id, site_id, hash, hint) values (gen_random_uuid(), '{site}', sha256('{site}'), 'hint');
        insert into rate_windows (site_key_id, policy, minute, allowed, wanted, share, given, scarce, holders)
        select id, 'submit', now(), 1, 1, 1, 1, false, '{{}}' from site_keys where site_id = '{site}';
        insert into webhook_endpoints (id, site_id, url, events)
        values (gen_random_uuid(), '{site}', 'https://secret.example/', '{{media.created}}');
        insert into webhook_endpoint_states (endpoint_id) select id from webhook_endpoints where site_id = '{site}';
        insert into webhook_recoveries (id, endpoint_id, site_id, team_id, kind, since, until)
        values (gen_random_uuid(), gen_random_uuid(), '{site}', '{team}', 'failed', now() - interval '1 hour', now());
        insert into site_rule_groups (site_id, rule_group_id) values ('{site}', '{group}');
        insert into desk_settings (site_id) values ('{site}');
        insert into legal_holds (id, team_id, site_id, author, reason, lifted_at)
        values (gen_random_uuid(), '{team}', '{site}', 'secret', 'about a secret', now());
        ",
        team = team.team,
        group = team.group,
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(statements))
        .execute(&team.pool)
        .await
        .unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_site_is_disabled_at_once_and_cancelling_opens_exactly_it(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let other = Tenant::another(&pool, "other").await;
    let second = team.create_site("second").await;
    let revision = "select sum(revision)::bigint from sites where name = 'second'";
    let before = team.count(revision).await;
    let id = team.close(Some(second), MONTH).await;
    assert_eq!(team.closing().await, [("second".into(), id)]);
    assert_eq!(other.closing().await, []);
    // What was prepared for the earlier revision is refused.
    assert_eq!(team.count(revision).await, before + 1);
    let closure = team.closure(id).await;
    assert_eq!(closure.state, ClosureState::Grace);
    assert_eq!((closure.site, closure.sites.len()), (Some(second), 1));
    let days = (closure.erase_at - closure.created_at).num_days();
    assert_eq!(days, 30);
    let Next::Later(left) = team.next(id).await else {
        panic!("the grace is not over");
    };
    assert!(left > Duration::from_hours(29 * 24), "{left:?}");

    // Its export lasts as long, and does not count.
    let mut conn = pool.acquire().await.unwrap();
    let of_closure = closure.sites[0].export;
    let found = export::find(&mut conn, Reach::Team(team.team), of_closure).await;
    let found = found.unwrap().unwrap();
    assert_eq!((found.site, found.expires_at), (second, closure.erase_at));
    let new = NewExport {
        team: team.team,
        site: team.site,
        by: Actor::CommandLine,
    };
    for _ in 0..export::MOST {
        assert!(export::create(&mut conn, new).await.unwrap().is_some());
    }
    assert_eq!(export::create(&mut conn, new).await.unwrap(), None);

    // Neither it nor its team can be closed a second time.
    let closing = Closing {
        closure: id,
        is_closed: false,
    };
    let again = team.try_to_close(Some(second), NONE).await;
    assert_eq!(again, Err(NotCreated::Closing(closing)));
    let whole = team.try_to_close(None, NONE).await;
    assert_eq!(whole, Err(NotCreated::OfSite(id)));
    assert_eq!(
        closure::of_site(&mut conn, second).await.unwrap(),
        Some(closing)
    );
    assert_eq!(closure::of_site(&mut conn, team.site).await.unwrap(), None);

    assert!(team.cancel_closure(id).await);
    assert!(!team.cancel_closure(id).await);
    assert_eq!(team.closing().await, []);
    assert_eq!(team.count(revision).await, before + 2);
    let cancelled = team.closure(id).await;
    assert_eq!(cancelled.state, ClosureState::Cancelled);
    assert!(cancelled.sites.is_empty() && cancelled.ended_at.is_some());
    let ended = export::find(&mut conn, Reach::Everything, of_closure).await;
    assert!(ended.unwrap().is_none());
    assert!(matches!(team.next(id).await, Next::Nothing));
    // And it can be closed again.
    team.close(Some(second), MONTH).await;
}

#[sqlx::test(migrations = false)]
async fn a_team_is_disabled_with_all_its_open_sites(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let second = team.create_site("second").await;
    let gone = team.create_site("gone").await;
    let earlier = team.close(Some(gone), NONE).await;
    team.run_closure(earlier).await;
    let name = format!("closed {gone}");
    assert_eq!(team.closing().await, [(name.clone(), earlier)]);

    let id = team.close(None, MONTH).await;
    let of_team = team.closure(id).await;
    let sites: Vec<SiteId> = of_team.sites.iter().map(|site| site.site).collect();
    assert_eq!(sites, [team.site, second]);
    let mut conn = pool.acquire().await.unwrap();
    let closing = Closing {
        closure: id,
        is_closed: false,
    };
    let found = closure::of_team(&mut conn, team.team).await.unwrap();
    assert_eq!(found, Some(closing));
    for site in [None, Some(second)] {
        let again = team.try_to_close(site, NONE).await;
        assert_eq!(again, Err(NotCreated::Closing(closing)));
    }
    assert!(team.cancel_closure(id).await);
    // What was closed before stays closed.
    assert_eq!(team.closing().await, [(name, earlier)]);
    assert_eq!(closure::of_team(&mut conn, team.team).await.unwrap(), None);
}

#[sqlx::test(migrations = false)]
async fn a_legal_hold_prevents_a_closure_and_one_of_the_grace_delays_it(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let second = team.create_site("second").await;
    let hold = team.hold(second).await;
    for site in [Some(second), None] {
        let refused = team.try_to_close(site, NONE).await;
        assert_eq!(refused, Err(NotCreated::Held(vec![hold.into()])));
    }
    assert_eq!(team.closing().await, []);
    team.lift(hold).await;

    let id = team.close(None, NONE).await;
    let hold = team.hold(second).await;
    for _ in 0..2 {
        assert!(team.step(id).await);
        let waiting = team.closure(id).await;
        assert_eq!(waiting.state, ClosureState::Grace);
        assert_eq!(waiting.waits_for, Some(WaitsFor::LegalHold));
    }
    let closed = "select count(*) from sites where closed_at is not null";
    assert_eq!(team.count(closed).await, 0);
    team.lift(hold).await;
    assert!(team.step(id).await);
    let goes_on = team.closure(id).await;
    assert_eq!(goes_on.state, ClosureState::Erasing);
    assert_eq!(goes_on.waits_for, None);
    assert_eq!(team.count(closed).await, 2);
    assert!(!team.cancel_closure(id).await, "the grace is over");
    team.run_closure(id).await;
}
