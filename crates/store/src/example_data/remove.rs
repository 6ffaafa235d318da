//! Removing the example team and all that belongs to it, in steps of bounded size. The audit log stays.
//!
//! Every step is a transaction and finds what is left, so a removal that was interrupted can begin again.

use std::time::Duration;

use domain::{actor::Actor, audit::Action};
use serde_json::json;
use sqlx::{AssertSqlSafe, PgConnection, PgPool};
use tokio::time::sleep;
use uuid::Uuid;

use super::{MODERATOR, NAME, State, TEAM, mark, state};
use crate::{
    Error,
    audit::{self, Entry},
    media,
};

/// Rows that a step looks for. Each takes a few others with it.
const ROWS: i64 = 500;

/// How long to wait for the statistics to reach a pause, in steps of a fifth of a second.
const PATIENCE: u32 = 150;
const STEP: Duration = Duration::from_millis(200);

/// What was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Whether there was example data.
    pub existed: bool,
    /// How many items were removed.
    pub items: u64,
}

/// Tables with many rows.
const MANY: [Many; 4] = [
    Many {
        find: "delete from deliveries
         where id in (
             select d.id
             from webhook_endpoints e
             join sites s on s.id = e.site_id
             cross join lateral (select id from deliveries where endpoint_id = e.id limit $2) d
             where s.team_id = $1
             limit $2
         )
         returning id",
        others: &[&["delete from delivery_attempts where delivery_id = any($1)"]],
        are_items: false,
    },
    Many {
        find: "delete from events
         where id in (
             select e.id
             from sites s
             cross join lateral (select id from events where site_id = s.id limit $2) e
             where s.team_id = $1
             limit $2
         )
         returning id",
        others: &[],
        are_items: false,
    },
    Many {
        find: "delete from hash_entries
         where (list_id, id) in (
             select e.list_id, e.id from hash_entries e join hash_lists l on l.id = e.list_id where l.team_id = $1 limit $2
         )
         returning id",
        others: &[],
        are_items: false,
    },
    Many {
        find: "select m.id
         from sites s
         cross join lateral (select id from media where site_id = s.id limit $2) m
         where s.team_id = $1
         limit $2",
        others: &[
            media::STATEMENTS,
            &["delete from review_opinions where media_id = any($1)"],
        ],
        are_items: true,
    },
];

/// Rows of a table, with all that they take with them.
struct Many {
    /// Finds the rows. `$1` is the team, `$2` the number of rows. Returns their ids.
    find: &'static str,
    /// Remove what goes with them. `$1` are the ids.
    others: &'static [&'static [&'static str]],
    are_items: bool,
}

/// Removes the team. Does nothing if there is none.
pub async fn remove(pool: &PgPool) -> Result<Removed, Error> {
    let mut removed = Removed {
        existed: false,
        items: 0,
    };
    if state(&mut *pool.acquire().await?).await? == State::Absent {
        return Ok(removed);
    }
    removed.existed = true;
    let mut tx = pool.begin().await?;
    close(&mut tx).await?;
    tx.commit().await?;
    for many in MANY {
        loop {
            let mut tx = pool.begin().await?;
            let found: Vec<Uuid> = sqlx::query_scalar(many.find)
                .bind(TEAM.as_uuid())
                .bind(ROWS)
                .fetch_all(&mut *tx)
                .await?;
            for statement in many.others.iter().copied().flatten() {
                sqlx::query(*statement)
                    .bind(&found)
                    .execute(&mut *tx)
                    .await?;
            }
            tx.commit().await?;
            if found.is_empty() {
                break;
            }
            if many.are_items {
                removed.items += u64::try_from(found.len()).unwrap_or(u64::MAX);
            }
        }
    }
    for attempt in 0..=PATIENCE {
        let mut tx = pool.begin().await?;
        if uncount(&mut tx, attempt == PATIENCE).await? {
            rest(&mut tx).await?;
            tx.commit().await?;
            break;
        }
        drop(tx);
        sleep(STEP).await;
    }
    Ok(removed)
}

/// From here on, nothing more is accepted or sent for the team.
async fn close(conn: &mut PgConnection) -> Result<(), Error> {
    mark(conn).await?;
    for statement in [
        "delete from rate_windows
         where site_key_id = $1 or site_key_id in (
             select k.id from site_keys k join sites s on s.id = k.site_id where s.team_id = $1
         )",
        "delete from site_keys where site_id in (select id from sites where team_id = $1)",
        "delete from management_tokens where team_id = $1",
        "update webhook_endpoints set disabled_at = now(), disabled_reason = 'the example data is being removed'
         where disabled_at is null and site_id in (select id from sites where team_id = $1)",
    ] {
        execute(conn, statement).await?;
    }
    Ok(())
}

/// Removes the team's statistics, and subtracts them from those of the installation. False, and nothing is changed, while the
/// statistics are being added up, unless this is urgent: what was read before could be added afterwards.
async fn uncount(conn: &mut PgConnection, is_urgent: bool) -> Result<bool, Error> {
    let is_counting: bool =
        sqlx::query_scalar("select state = 'running' from statistics_progress for update")
            .fetch_one(&mut *conn)
            .await?;
    if is_counting && !is_urgent {
        return Ok(false);
    }
    let columns = [
        "accepted",
        "rule_approved",
        "rule_rejected",
        "rule_pending_review",
        "ai_approved",
        "ai_rejected",
        "ai_pending_review",
        "manual_approved",
        "manual_rejected",
        "failure_approved",
        "failure_rejected",
        "failure_pending_review",
        "reviews_decided",
        "reviews_waited_ms",
        "delivered",
        "failed_attempts",
        "exhausted",
        "discarded",
    ];
    let less: Vec<String> = columns
        .iter()
        .map(|column| format!("{column} = h.{column} - g.{column}"))
        .collect();
    let statement = format!(
        "with gone as (delete from statistics_hours where subject_id = $1 returning *)
         update statistics_hours h set {} from gone g
         where h.subject_id = '00000000-0000-0000-0000-000000000000' and h.hour = g.hour",
        less.join(", "),
    );
    sqlx::query(AssertSqlSafe(statement))
        .bind(TEAM.as_uuid())
        .execute(&mut *conn)
        .await?;
    for statement in [
        "delete from statistics_hours where subject_id in (select id from sites where team_id = $1)",
        "delete from statistics_rules where subject_id = $1 or subject_id in (select id from sites where team_id = $1)",
        "delete from statistics_given_up
         where endpoint_id in (select e.id from webhook_endpoints e join sites s on s.id = e.site_id where s.team_id = $1)",
    ] {
        execute(conn, statement).await?;
    }
    Ok(true)
}

/// Removes what is left, which a team has few of, those that refer to others first.
async fn rest(conn: &mut PgConnection) -> Result<(), Error> {
    for statement in [
        "delete from cached_answers where team_id = $1",
        "delete from answer_rings where team_id = $1",
        "delete from idempotency_keys where site_id in (select id from sites where team_id = $1)",
        "delete from usage where team_id = $1",
        "delete from subscriptions where team_id = $1",
        "delete from webhook_recoveries where team_id = $1",
        "delete from bulk_decisions where team_id = $1",
        "delete from erased_items where erasure_id in (select id from erasures where team_id = $1)",
        "delete from erasures where team_id = $1",
        "delete from closures where team_id = $1",
        "delete from exports where team_id = $1",
        "delete from webhook_endpoint_states
         where endpoint_id in (select e.id from webhook_endpoints e join sites s on s.id = e.site_id where s.team_id = $1)",
        "delete from webhook_endpoints where site_id in (select id from sites where team_id = $1)",
        "delete from hash_scans where team_id = $1 or list_id in (select id from hash_lists where team_id = $1)",
        "delete from hash_imports where list_id in (select id from hash_lists where team_id = $1)",
        "delete from hash_lists where team_id = $1",
        "delete from backtests where team_id = $1",
        "delete from site_rule_groups where site_id in (select id from sites where team_id = $1)",
        "delete from sites where team_id = $1",
        "delete from shadow_counts
         where version_id in (
             select v.id from rule_group_versions v join rule_groups g on g.id = v.rule_group_id where g.team_id = $1
         )",
        "delete from shadow_differences
         where version_id in (
             select v.id from rule_group_versions v join rule_groups g on g.id = v.rule_group_id where g.team_id = $1
         )",
        "update rule_groups set shadow_version_id = null where team_id = $1",
        "delete from rule_group_publications where rule_group_id in (select id from rule_groups where team_id = $1)",
        "delete from rule_group_versions where rule_group_id in (select id from rule_groups where team_id = $1)",
        "delete from rule_groups where team_id = $1",
        "delete from links where team_id = $1",
    ] {
        execute(conn, statement).await?;
    }
    people(conn).await?;
    let entry = Entry {
        actor: Actor::CommandLine,
        action: Action::TeamUpdate,
        team: Some(TEAM),
        target: Some(TEAM.as_uuid()),
        details: &json!({ "removed": { "id": TEAM, "name": NAME } }),
        request_id: None,
    };
    audit::record(conn, entry).await?;
    execute(conn, "delete from actors where team_id = $1").await?;
    execute(conn, "delete from teams where id = $1").await
}

/// Removes the memberships, and the account of the moderator. Other people keep their accounts.
async fn people(conn: &mut PgConnection) -> Result<(), Error> {
    execute(conn, "delete from memberships where team_id = $1").await?;
    for statement in [
        "delete from sessions where user_id in (select id from users where email = $1)",
        "delete from factors where user_id in (select id from users where email = $1)",
        "delete from recovery_codes where user_id in (select id from users where email = $1)",
        "delete from links where user_id in (select id from users where email = $1)",
        "delete from users u where email = $1 and not exists (select from memberships m where m.user_id = u.id)",
    ] {
        sqlx::query(statement)
            .bind(MODERATOR)
            .execute(&mut *conn)
            .await?;
    }
    Ok(())
}

async fn execute(conn: &mut PgConnection, statement: &'static str) -> Result<(), Error> {
    sqlx::query(statement)
        .bind(TEAM.as_uuid())
        .execute(conn)
        .await?;
    Ok(())
}
