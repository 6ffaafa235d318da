//! Closures: what they disable, what cancelling opens again, what they wait for, and what is left at the end.

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
    closure::{
        self, Closing, Closure, NewClosure, NotCreated,
        slice::{self, Next},
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

    async fn next(&self, id: ClosureId) -> Next {
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
                Next::Step(step) => {
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
        assert!(store::legal_hold::lift(&mut conn, hold.into()).await.unwrap());
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

#[sqlx::test(migrations = false)]
async fn nothing_is_left_of_a_closed_site_and_everything_of_the_other(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let other = team.create_site("other").await;
    for site in [team.site, other] {
        furnish(&team, site).await;
    }
    let item = team
        .full_item(team.site, "anna", Some(Status::Approved))
        .await;
    team.item_of(other, chrono::Utc::now(), None).await;
    let untouched = team.all_of_site(other).await;
    let before = team.rows_of_site(team.site).await;

    let id = team.close(Some(team.site), NONE).await;
    let ended = team.run_closure(id).await;
    let erasure = team.erasure(ended.sites[0].erasure.unwrap()).await;
    assert_eq!((erasure.site, erasure.counts.items), (Some(team.site), 1));
    assert!(erasure.certificate.is_some());
    assert_eq!(team.all_of_site(other).await, untouched);

    let left: Vec<(String, i64)> = team
        .rows_of_site(team.site)
        .await
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .collect();
    let left: Vec<&str> = left.iter().map(|(table, _)| table.as_str()).collect();
    // A new table with things of sites is to be emptied, too, or to have nothing personal or secret.
    assert_eq!(
        left,
        [
            "closure_sites",
            "closures",
            "erasures",
            // A tombstone.
            "media",
            // Reports count opinions.
            "review_opinions",
        ]
    );
    let filled = before.iter().filter(|(_, count)| **count > 0);
    let filled: Vec<&str> = filled.map(|(table, _)| table.as_str()).collect();
    for table in [
        "desk_settings",
        "events",
        "legal_holds",
        "site_keys",
        "site_rule_groups",
        "webhook_endpoints",
        "webhook_recoveries",
    ] {
        assert!(filled.contains(&table), "{table}: {filled:?}");
    }
    let row = team.all_of_site(team.site).await.0;
    assert!(!row.contains("secret"), "{row}");
    assert!(row.contains(&format!("closed {}", team.site)), "{row}");
    let states = "select count(*) from webhook_endpoint_states s
                  where not exists (select from webhook_endpoints e where e.id = s.endpoint_id)";
    assert_eq!(team.count(states).await, 0);
    // The master key opens what took the place of its secret.
    let mut conn = pool.acquire().await.unwrap();
    let secrets = webhook_secret::signing(&mut conn, &master_key(), team.site).await;
    assert!(secrets.unwrap().is_some());
    assert_eq!(key_rotation::left(&mut conn, &master_key()).await.unwrap(), 0);
    let status: String = sqlx::query_scalar("select status from media where id = $1")
        .bind(item.as_uuid())
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(status, "approved");
    let recorded = "select count(*) from audit_log where action = 'closure.finish'";
    assert_eq!(team.count(recorded).await, 1);
}

#[sqlx::test(migrations = false)]
async fn of_a_closed_team_only_the_owners_are_left(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let other = Tenant::another(&pool, "other").await;
    for tenant in [&team, &other] {
        let statements = format!(
            r"
            insert into users (id, email, name, password_hash)
            select gen_random_uuid(), role || '@{team}.example', role, '' from unnest(array['owner', 'admin', 'viewer']) role;
            insert into memberships (id, user_id, team_id, role)
            select gen_random_uuid(), id, '{team}', name from users where email like '%@{team}.example';
            insert into links (id, kind, hash, team_id, email, role, creator, expires_at)
            values (gen_random_uuid(), 'invitation', sha256('{team}'), '{team}', 'a@example.com', 'viewer', 'command_line', now());
            ",
            team = tenant.team,
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(statements))
            .execute(&pool)
            .await
            .unwrap();
    }
    let left = async |tenant: &Tenant| -> (i64, Vec<String>, i64, String) {
        sqlx::query_as(
            "select
                 (select count(*) from management_tokens where team_id = $1 and disabled_at is null),
                 array(select role from memberships where team_id = $1 and disabled_at is null order by role),
                 (select count(*) from links where team_id = $1),
                 (select state from subscriptions where team_id = $1)",
        )
        .bind(tenant.team.as_uuid())
        .fetch_one(&pool)
        .await
        .unwrap()
    };
    let before = left(&other).await;
    assert_eq!(left(&team).await, before);
    let id = team.close(None, NONE).await;
    assert!(team.step(id).await);
    assert_eq!(left(&team).await, before, "until everything is erased");
    team.run_closure(id).await;
    let owners = vec!["owner".to_owned()];
    assert_eq!(left(&team).await, (0, owners, 0, "cancelled".into()));
    assert_eq!(left(&other).await, before);
    assert_eq!(other.closing().await, []);
}

#[sqlx::test(migrations = false)]
async fn a_closure_waits_for_its_failed_erasure_and_for_room_for_it(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let id = team.close(Some(team.site), NONE).await;
    assert!(team.step(id).await);
    team.execute(
        "insert into erasures (id, team_id, kind, salt, subject_sha256)
         select gen_random_uuid(), id, 'author', '', sha256('') from teams, generate_series(1, 100)",
    )
    .await;
    assert!(team.step(id).await);
    let waiting = team.closure(id).await;
    assert_eq!(waiting.waits_for, Some(WaitsFor::OtherErasures));
    team.execute("delete from erasures").await;
    assert!(team.step(id).await);
    let erasing = team.closure(id).await;
    assert_eq!(erasing.waits_for, None);
    let erasure = erasing.sites[0].erasure.unwrap();

    team.execute("update erasures set state = 'failed', ended_at = now()")
        .await;
    assert!(team.step(id).await);
    let waiting = team.closure(id).await;
    assert_eq!(waiting.waits_for, Some(WaitsFor::FailedErasure));
    let mut conn = pool.acquire().await.unwrap();
    let resumed = store::erasure::resume(&mut conn, erasure).await.unwrap();
    assert!(resumed.is_some());
    team.run_closure(id).await;
}

#[sqlx::test(migrations = false)]
async fn a_closure_that_failed_goes_on_where_it_was(pool: PgPool) {
    let team = Tenant::new(pool.clone()).await;
    let id = team.close(Some(team.site), NONE).await;
    assert!(team.step(id).await);
    team.execute("update closures set state = 'failed', ended_at = now(), error = 'exhausted'")
        .await;
    assert_eq!(team.closure(id).await.state, ClosureState::Failed);
    assert!(matches!(team.next(id).await, Next::Nothing));
    let mut conn = pool.acquire().await.unwrap();
    assert!(closure::resume(&mut conn, id).await.unwrap().is_some());
    assert!(closure::resume(&mut conn, id).await.unwrap().is_none());
    team.run_closure(id).await;
}
