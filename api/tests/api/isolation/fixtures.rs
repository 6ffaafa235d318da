//! A team with one of everything.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use domain::{
    actor::Actor,
    audit::Action,
    email::Email,
    erasure::Subject,
    event::EventKind,
    hash_list::EntryHashes,
    id::{BacktestId, BulkDecisionId, EndpointId, ErasureId, ExportId, RecoveryId, TokenId},
    image_hash::{HashAlgorithm, ListKind, Pdq},
    media::Ruling,
    reach::Reach,
    reason::Reason,
    recovery::RecoveryKind,
    role::Role,
    scope::Scope,
};
use serde_json::json;
use sqlx::{PgConnection, PgPool, PgTransaction};
use store::{
    audit::{self, Entry},
    backtest::{self, NewBacktest},
    bulk_decision::{self, Asker, Chosen, NewBulk},
    endpoint,
    erasure::{self, NewErasure},
    export::{self, NewExport},
    hash_list::{
        self, NewHashList,
        entry::{self, Addition, NewEntry},
        import,
        scan::{self, NewScan},
    },
    jobs,
    person::{
        self,
        one_time_link::{self, NewInvitation},
        session::{self, Origin},
    },
    recovery::{self, NewRecovery},
    token::{self, Grant, NewToken},
};
use uuid::Uuid;

use crate::app::{App, SUBMIT, Tenant};

/// A picture of one pixel.
const GIF: &str = "R0lGODlhAQABAAAAACw=";

/// The team's things, and its keys to both interfaces.
pub(super) struct Things {
    pub(super) site_key: String,
    pub(super) token: String,
    /// The name of the team and of its site.
    pub(super) name: String,
    /// By what a parameter or member calls such a thing.
    ids: BTreeMap<&'static str, String>,
}

async fn backtest_of(pool: &PgPool, tenant: &Tenant, by: Actor) -> BacktestId {
    let group: Uuid = sqlx::query_scalar("select default_rule_group_id from sites where id = $1")
        .bind(tenant.site.as_uuid())
        .fetch_one(pool)
        .await
        .unwrap();
    let new = NewBacktest {
        team: tenant.team,
        group: group.into(),
        version: None,
        rules: &[],
        site: Some(tenant.site),
        since: None,
        until: None,
        limit: 1,
        by,
    };
    let mut tx = pool.begin().await.unwrap();
    let (backtest, _) = backtest::create(&mut tx, new).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    backtest
}

/// An erasure of something that nobody has submitted.
async fn erasure_of(pool: &PgPool, tenant: &Tenant, by: Actor) -> ErasureId {
    let mut tx = pool.begin().await.unwrap();
    let new = NewErasure {
        team: tenant.team,
        site: Some(tenant.site),
        subject: &Subject::Author("nobody".parse().unwrap()),
        by,
    };
    let (erasure, _) = erasure::create(&mut tx, new).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    erasure
}

async fn recovery_of(pool: &PgPool, endpoint: EndpointId, by: Actor) -> RecoveryId {
    let mut tx = pool.begin().await.unwrap();
    let target = recovery::target(&mut tx, Reach::Everything, endpoint).await;
    let target = target.unwrap().unwrap();
    let new = NewRecovery {
        target: &target,
        kind: RecoveryKind::Failed,
        event: None,
        since: target.at - TimeDelta::minutes(1),
        until: target.at,
        by,
    };
    let (recovery, _) = recovery::create(&mut tx, new).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    recovery
}

async fn export_of(pool: &PgPool, tenant: &Tenant, by: Actor) -> ExportId {
    let new = NewExport {
        team: tenant.team,
        site: tenant.site,
        by,
    };
    let mut tx = pool.begin().await.unwrap();
    let export = export::create(&mut tx, new).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    export
}

async fn bulk_of(pool: &PgPool, tenant: &Tenant, by: TokenId) -> BulkDecisionId {
    let new = NewBulk {
        by: Asker {
            actor: Actor::Token(by).id().unwrap(),
            team: tenant.team,
            sites: None,
        },
        chosen: Chosen {
            reviews: &[],
            filter: None,
        },
        ruling: Ruling::Approve,
        policy: None,
        reason: &Reason::try_from("As it is.".to_owned()).unwrap(),
    };
    let mut tx = pool.begin().await.unwrap();
    let (bulk, _) = bulk_decision::create(&mut tx, new).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    bulk
}

/// A list with everything that belongs to one.
async fn hashes_of(pool: &PgPool, tenant: &Tenant, by: Actor) -> BTreeMap<&'static str, String> {
    let mut tx = pool.begin().await.unwrap();
    let new = NewHashList {
        team: Some(tenant.team),
        name: "known",
        description: "",
        kind: ListKind::Deny,
        max_distance: 31,
        by,
    };
    let list = hash_list::create(&mut tx, new).await.unwrap().unwrap();
    let locked = hash_list::lock(&mut tx, Reach::Everything, list)
        .await
        .unwrap()
        .unwrap();
    let new = NewEntry {
        hashes: EntryHashes::new(None, Some(Pdq::from([7; 32]))).unwrap(),
        note: "",
        media: None,
    };
    let Addition::Added(entry) = entry::add(&mut tx, list, new, by).await.unwrap() else {
        panic!("the list is empty");
    };
    let import = import::create(&mut tx, &locked, HashAlgorithm::Pdq, b"\n", by);
    let (import, _) = import.await.unwrap().unwrap();
    let new = NewScan {
        list,
        team: Some(tenant.team),
        since_revision: None,
        by,
    };
    let (scan, _) = scan::create(&mut tx, new).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    BTreeMap::from([
        ("hash_list_id", list.to_string()),
        ("hash_entry_id", entry.to_string()),
        ("hash_import_id", import.to_string()),
        ("hash_scan_id", scan.to_string()),
    ])
}

/// A person who is signed in, and an open invitation.
async fn people_of(conn: &mut PgConnection, tenant: &Tenant) -> BTreeMap<&'static str, String> {
    let email: Email = format!("{}@example.com", tenant.team).parse().unwrap();
    let name = "Ada".parse().unwrap();
    let user = person::create_account(conn, &email, &name, "no hash").await;
    let user = user.unwrap().unwrap();
    let role = Role::Viewer;
    let member = person::join(conn, user, Some(tenant.team), role, None)
        .await
        .unwrap();
    let origin = Origin {
        address: "192.0.2.1",
        user_agent: "Firefox",
    };
    let (session, _) = session::create(conn, user, origin).await.unwrap();
    let new = NewInvitation {
        team: Some(tenant.team),
        email: &"grace@example.com".parse().unwrap(),
        role,
        sites: None,
        by: Actor::CommandLine,
    };
    let (invitation, _) = one_time_link::invite(conn, new).await.unwrap();
    BTreeMap::from([
        ("person_id", member.to_string()),
        ("session_id", session.to_string()),
        ("invitation_id", invitation.id.to_string()),
    ])
}

/// A review that a token has, a policy, and an item whose answer is known.
async fn desk_of(app: &App, tenant: &Tenant, token: TokenId) -> (Uuid, Uuid) {
    let body = json!({ "api_key": tenant.key, "body": "in review", "content_base64": GIF });
    let media = app.post(SUBMIT, &body).await.ok()["id"].clone();
    sqlx::query(
        "with waiting as (
             update media set status = 'pending_review', verdict = 1 where id = $1::text::uuid returning id, team_id, site_id
         )
         insert into reviews (media_id, team_id, site_id) select id, team_id, site_id from waiting",
    )
    .bind(media.as_str().unwrap())
    .execute(&app.pool)
    .await
    .unwrap();
    let review = sqlx::query_scalar(
        "update review_tasks
         set leased_by = $2, leased_at = now(), leased_until = now() + interval '5 minutes'
         where media_id = $1::text::uuid
         returning id",
    )
    .bind(media.as_str().unwrap())
    .bind(token.as_uuid())
    .fetch_one(&app.pool)
    .await
    .unwrap();
    sqlx::query(
        "insert into golden_items (media_id, team_id, site_id, expected, added_by)
         select id, team_id, site_id, 'approve', $2 from media where team_id = $1",
    )
    .bind(tenant.team.as_uuid())
    .bind(token.as_uuid())
    .execute(&app.pool)
    .await
    .unwrap();
    let policy = sqlx::query_scalar(
        "insert into review_policies (id, team_id, code, name, guideline, reason, severity, categories, rules, two_people)
         values (gen_random_uuid(), $1, 'spam', 'Spam', '', 'Spam.', 1, '{}', '{}', false)
         returning id",
    )
    .bind(tenant.team.as_uuid())
    .fetch_one(&app.pool)
    .await
    .unwrap();
    (review, policy)
}

/// What belongs to the team's site.
async fn of_site(pool: &PgPool, tenant: &Tenant) -> Vec<(&'static str, String)> {
    let mut ids = Vec::new();
    for (name, query) in [
        ("rule_group_id", "select default_rule_group_id from sites where id = $1"),
        ("key_id", "select id from site_keys where site_id = $1"),
        (
            "version_id",
            "select v.id from rule_group_versions v join sites s on s.default_rule_group_id = v.rule_group_id
             where s.id = $1",
        ),
        ("event_id", "select id from events where site_id = $1"),
        (
            "delivery_id",
            "select d.id from deliveries d join events e on e.id = d.event_id where e.site_id = $1",
        ),
    ] {
        let id: Uuid = sqlx::query_scalar(query)
            .bind(tenant.site.as_uuid())
            .fetch_one(pool)
            .await
            .unwrap();
        ids.push((name, id.to_string()));
    }
    ids
}

impl Things {
    #[expect(clippy::too_many_lines, reason = "a thing of each kind")]
    pub(super) async fn of(app: &App, tenant: &Tenant) -> Self {
        for queue in [
            jobs::BACKTESTS,
            jobs::HASH_IMPORTS,
            jobs::HASH_SCANS,
            jobs::RECOVERIES,
            jobs::REVIEWS,
            jobs::BULK_DECISIONS,
            jobs::ERASURES,
            jobs::CLOSURES,
        ] {
            app.leaves(queue);
        }
        let mut conn = app.pool.acquire().await.unwrap();
        let new = NewToken {
            name: &"test".parse().unwrap(),
            team: Some(tenant.team),
            scopes: Scope::ALL,
            expires_at: None,
        };
        let (token, secret) = token::create(&mut conn, &Grant::command_line(), new)
            .await
            .unwrap();
        // Another one, which may be disabled.
        let (spare, _) = token::create(&mut conn, &Grant::command_line(), new)
            .await
            .unwrap();
        let created = Entry {
            actor: Actor::CommandLine,
            action: Action::TokenCreate,
            team: Some(tenant.team),
            target: Some(spare.id.as_uuid()),
            details: &json!({}),
            request_id: None,
        };
        audit::record(&mut conn, created).await.unwrap();
        let url = "https://example.com/hook";
        let endpoint = endpoint::create(&mut conn, tenant.site, url, EventKind::ALL)
            .await
            .unwrap();
        let mut people = people_of(&mut conn, tenant).await;
        drop(conn);
        let hashes = hashes_of(&app.pool, tenant, Actor::Token(token.id)).await;
        let recovery = recovery_of(&app.pool, endpoint, Actor::Token(token.id)).await;
        let erasure = erasure_of(&app.pool, tenant, Actor::Token(token.id)).await;
        let backtest = backtest_of(&app.pool, tenant, Actor::Token(token.id)).await;
        let body = json!({ "api_key": tenant.key, "body": "a text", "content_base64": GIF });
        let media = app.post(SUBMIT, &body).await.ok()["id"].clone();
        let export = export_of(&app.pool, tenant, Actor::Token(token.id)).await;

        let mut ids = hashes;
        ids.append(&mut people);
        ids.extend([
            ("team_id", tenant.team.to_string()),
            ("site_id", tenant.site.to_string()),
            ("token_id", spare.id.to_string()),
            ("own_token_id", token.id.to_string()),
            ("endpoint_id", endpoint.to_string()),
            ("recovery_id", recovery.to_string()),
            ("erasure_id", erasure.to_string()),
            ("backtest_id", backtest.to_string()),
            ("media_id", media.as_str().unwrap().to_owned()),
            ("export_id", export.to_string()),
            // Rules are parts of versions and have no rows.
            ("rule_id", Uuid::now_v7().to_string()),
        ]);
        ids.extend(of_site(&app.pool, tenant).await);
        // A plan is nobody's, but which one a team has is its own business.
        let plan: Uuid = sqlx::query_scalar(
            "with plan as (insert into plans (id, name) values (gen_random_uuid(), $2) returning id)
             update subscriptions set plan_id = plan.id from plan where team_id = $1 returning plan.id",
        )
        .bind(tenant.team.as_uuid())
        .bind(tenant.team.to_string())
        .fetch_one(&app.pool)
        .await
        .unwrap();
        ids.insert("plan_id", plan.to_string());
        let (review, policy) = desk_of(app, tenant, token.id).await;
        ids.insert("review_id", review.to_string());
        ids.insert("policy_id", policy.to_string());
        let bulk = bulk_of(&app.pool, tenant, token.id).await;
        ids.insert("bulk_decision_id", bulk.to_string());
        let hold: Uuid = sqlx::query_scalar(
            "insert into legal_holds (id, team_id, site_id, reason)
             select gen_random_uuid(), team_id, id, 'A case.' from sites where id = $1
             returning id",
        )
        .bind(tenant.site.as_uuid())
        .fetch_one(&app.pool)
        .await
        .unwrap();
        ids.insert("hold_id", hold.to_string());
        // It disables nothing, so that everything else can be tried.
        let closure: Uuid = sqlx::query_scalar(
            "insert into closures (id, team_id, erase_at)
             select gen_random_uuid(), team_id, now() + interval '1 day' from sites where id = $1
             returning id",
        )
        .bind(tenant.site.as_uuid())
        .fetch_one(&app.pool)
        .await
        .unwrap();
        ids.insert("closure_id", closure.to_string());
        let name = sqlx::query_scalar("select name from sites where id = $1")
            .bind(tenant.site.as_uuid())
            .fetch_one(&app.pool)
            .await
            .unwrap();
        Self {
            site_key: tenant.key.clone(),
            token: secret.expose().to_owned(),
            name,
            ids,
        }
    }

    /// The thing that is called so; none: whoever adds an operation with such a parameter adds here what fills it.
    pub(super) fn named(&self, name: &str) -> Option<&str> {
        let name = match name {
            "default_rule_group_id" | "rule_group_ids" => "rule_group_id",
            "site_ids" => "site_id",
            "review_ids" => "review_id",
            "media_ids" => "media_id",
            "lists" => "hash_list_id",
            "from_version_id" | "to_version_id" => "version_id",
            // A team is a group of every queue, and a lane of most.
            "group_id" | "lane_id" => "team_id",
            // A queue is nobody's.
            "queue" => return Some("rules"),
            // Whatever the audit log tells of.
            "target_id" | "created_by" => "token_id",
            name => name,
        };
        self.ids.get(name).map(String::as_str)
    }

    /// Everything that tells of them, as it stands in the database.
    pub(super) async fn traces(&self, pool: &PgPool) -> Vec<String> {
        let mut traces = Vec::new();
        for table in tables(pool).await {
            // Scheduled jobs become due by themselves, and the audit log is sealed in the background.
            let shown = match table.as_str() {
                "public.audit_chains" => continue,
                "public.audit_log" => "(to_jsonb(t) - 'chain_number' - 'chain_hash')",
                "queue.jobs" => "(to_jsonb(t) - 'state' - 'gen')",
                _ => "t",
            };
            // Ten times as fast as one pattern with all ids.
            let query = format!(
                "select $2 || {shown}::text
                 from {table} t, lateral (select t::text as whole_row offset 0) written
                 where exists (select from unnest($1) sought where strpos(written.whole_row, sought) > 0)
                 order by 1"
            );
            let rows: Vec<String> = sqlx::query_scalar(sqlx::AssertSqlSafe(query))
                .bind(self.ids.values().cloned().collect::<Vec<_>>())
                .bind(&table)
                .fetch_all(pool)
                .await
                .unwrap();
            traces.extend(rows);
        }
        traces
    }

    /// Locks every row that tells of them, until the transaction ends.
    pub(super) async fn lock(&self, pool: &PgPool) -> PgTransaction<'static> {
        let mut tx = pool.begin().await.unwrap();
        for table in tables(pool).await {
            let query = format!("select from {table} t where t::text ~ $1 for update");
            sqlx::query(sqlx::AssertSqlSafe(query))
                .bind(self.pattern())
                .execute(&mut *tx)
                .await
                .unwrap();
        }
        tx
    }

    /// What matches any of their ids.
    fn pattern(&self) -> String {
        let ids: Vec<&str> = self.ids.values().map(String::as_str).collect();
        ids.join("|")
    }

    /// The first of them that a text tells of.
    pub(super) fn told_in(&self, text: &str) -> Option<&str> {
        self.ids
            .values()
            .map(String::as_str)
            .find(|id| text.contains(id))
    }
}

/// Every table there is.
async fn tables(pool: &PgPool) -> Vec<String> {
    sqlx::query_scalar(
        "select format('%I.%I', schemaname, tablename) from pg_tables where schemaname in ('public', 'queue')",
    )
    .fetch_all(pool)
    .await
    .unwrap()
}
