//! What a page costs the database: the statements and the transactions of each one.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use console::Access;
use domain::role::Role;
use poem::http::StatusCode;
use sqlx::{AssertSqlSafe, PgPool};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};
use uuid::Uuid;

use crate::browser::{Browser, Stage};

/// A page takes at most as many statements. One of them looks up the session and the person for the navigation, another
/// one begins the transaction of the page.
const MOST: usize = 15;

/// The statement that begins a transaction of somebody who has signed in.
const BEGINS: &str = "m.id as member_id, m.role, m.site_ids";

/// Collects what sqlx logs about statements.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "sqlx::query"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut statement = Statement::default();
        event.record(&mut statement);
        let Statement { whole, summary } = statement;
        let text = if whole.is_empty() { summary } else { whole };
        self.0.lock().unwrap().push(text);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// A statement as it is logged: short ones have a summary only.
#[derive(Default)]
struct Statement {
    whole: String,
    summary: String,
}

impl Visit for Statement {
    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "db.statement" => value.clone_into(&mut self.whole),
            "summary" => value.clone_into(&mut self.summary),
            _ => {}
        }
    }
}

#[sqlx::test(migrations = false)]
async fn a_page_takes_one_transaction_and_a_few_statements(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let site = stage.site("Shop").await;
    stage.pending(site, "a text").await;
    let endpoint = stage.endpoint(site, "https://example.com/hooks").await;
    stage.delivery(endpoint, "delivered").await;
    stage.fails(endpoint).await;
    let mut owner = stage.person("owner@market.example", Role::Owner).await;
    let mut operator = stage.person("operator@example.com", Role::Operator).await;
    // A new member's session is used within the minute in which it began, so nothing is noted.
    let log = Log::default();
    let guard = tracing::subscriber::set_default(log.clone());
    let (mut told, mut wrong) = (Vec::new(), Vec::new());
    for (method, path, needs) in console::routes() {
        let (Access::Scope(_), "GET") = (needs, method) else {
            continue;
        };
        let address = address(&pool, path, &stage).await;
        let browser = if path.starts_with("/instance/") {
            &mut operator
        } else {
            &mut owner
        };
        let (status, statements) = opened(browser, &address, &log).await;
        let begun = statements
            .iter()
            .filter(|text| text.contains(BEGINS))
            .count();
        let line = format!(
            "{path}: {status}, {begun} transactions, {} statements",
            statements.len()
        );
        if begun > most_begun(path) || statements.len() > MOST {
            wrong.push(format!("{line}: {statements:#?}"));
        }
        told.push(line);
    }
    drop(guard);
    assert!(told.len() > 50, "{}", told.len());
    assert!(
        wrong.is_empty(),
        "{}\namong\n{}",
        wrong.join("\n"),
        told.join("\n")
    );
}

/// A difference is computed after the transaction has ended.
fn most_begun(path: &str) -> usize {
    if path.ends_with("/compare") { 2 } else { 1 }
}

/// Opens the page several times, and takes the fewest statements: now and then the queue sends some of its own.
async fn opened(browser: &mut Browser, address: &str, log: &Log) -> (StatusCode, Vec<String>) {
    let mut best: Option<(StatusCode, Vec<String>)> = None;
    for _ in 0..3 {
        log.take();
        let status = browser.get(address).await.status;
        let statements = log.take();
        if best
            .as_ref()
            .is_none_or(|(_, fewest)| statements.len() < fewest.len())
        {
            best = Some((status, statements));
        }
    }
    best.unwrap()
}

/// The path with the ids of what there is.
async fn address(pool: &PgPool, path: &str, stage: &Stage) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        let table = match part {
            "{team}" => {
                parts.push(stage.team.to_string());
                continue;
            }
            "{site}" => "sites",
            "{group}" => "rule_groups",
            "{version}" => "rule_group_versions",
            "{item}" => "media",
            "{endpoint}" => "webhook_endpoints",
            "{delivery}" => "deliveries",
            "{person}" => "memberships",
            "{plan}" => "plans",
            "{key}" => "site_keys",
            "{queue}" => {
                parts.push("rules".to_owned());
                continue;
            }
            part if part.starts_with('{') => {
                parts.push(Uuid::now_v7().to_string());
                continue;
            }
            part => {
                parts.push(part.to_owned());
                continue;
            }
        };
        let found: Option<Uuid> = sqlx::query_scalar(AssertSqlSafe(format!(
            "select id from {table} order by id limit 1"
        )))
        .fetch_optional(pool)
        .await
        .unwrap();
        parts.push(found.unwrap_or_else(Uuid::now_v7).to_string());
    }
    parts.join("/")
}
