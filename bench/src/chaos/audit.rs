//! The audit after the chaos: the promises to customers, the rows in Postgres, the answers of the
//! interface and the receiver's webhooks must agree.

mod accepted_items;
mod api_responses;
mod checks;
mod webhooks;

use std::collections::{HashMap, HashSet};

use anyhow::Context as _;
use domain::media::Status;
use serde::Serialize;
use sqlx::{AssertSqlSafe, PgConnection, Row as _};
use uuid::Uuid;

use super::client::{Customers, Ledger, Submission};
use crate::stack::Stack;

/// How many offenders are named.
const NAMED: usize = 3;
/// Something that must hold.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Check {
    pub(crate) name: String,
    /// How often it does not hold.
    pub(crate) failures: usize,
    /// The first few offenders.
    pub(crate) examples: Vec<String>,
}

/// An item as it is stored.
struct Stored {
    submission: Option<Submission>,
    status: Status,
}

/// The audit under way.
pub(crate) struct Audit<'a> {
    stack: &'a Stack,
    ledger: &'a Ledger,
    customers: &'a Customers,
    conn: PgConnection,
    stored: HashMap<Uuid, Stored>,
    checks: Vec<Check>,
}

impl<'a> Audit<'a> {
    /// Reads what is stored.
    pub(crate) async fn begin(
        stack: &'a Stack,
        ledger: &'a Ledger,
        customers: &'a Customers,
    ) -> anyhow::Result<Self> {
        let mut conn = stack.environment.cluster.connect().await?;
        let rows = sqlx::query("select id, app_media_id, status from media")
            .fetch_all(&mut conn)
            .await?;
        let stored = rows.iter().map(|row| {
            let tag: Option<String> = row.get("app_media_id");
            let status: String = row.get("status");
            let submission = tag.as_deref().and_then(Submission::parse);
            anyhow::Ok((
                row.get("id"),
                Stored {
                    submission,
                    status: status.parse()?,
                },
            ))
        });
        let stored = stored.collect::<anyhow::Result<_>>()?;
        Ok(Self {
            stack,
            ledger,
            customers,
            conn,
            stored,
            checks: Vec::new(),
        })
    }

    /// Notes a check by its offenders.
    pub(crate) fn expect(&mut self, name: &str, offenders: impl IntoIterator<Item = String>) {
        let mut offenders = offenders.into_iter();
        let examples: Vec<String> = offenders.by_ref().take(NAMED).collect();
        let failures = examples.len() + offenders.count();
        self.checks.push(Check {
            name: name.to_owned(),
            failures,
            examples,
        });
    }

    /// Runs the whole audit.
    ///
    /// # Errors
    /// The database or the interface failed.
    pub(crate) async fn run(&mut self) -> anyhow::Result<()> {
        self.verdicts();
        self.run_without_verdicts().await
    }

    /// Runs everything but the comparison of verdicts, which knows only the scores of `builtin`.
    ///
    /// # Errors
    /// The database or the interface failed.
    pub(crate) async fn run_without_verdicts(&mut self) -> anyhow::Result<()> {
        self.promises();
        for (name, query) in checks::ALL {
            let check = offenders(&mut self.conn, name, query).await?;
            self.checks.push(check);
        }
        self.webhooks().await?;
        self.interface().await
    }

    /// How many submissions without an answer are stored.
    pub(crate) fn unknown_stored(&self) -> usize {
        let unknown: HashSet<&Submission> = self.ledger.unknown.iter().collect();
        self.stored
            .values()
            .filter(|item| {
                item.submission
                    .as_ref()
                    .is_some_and(|own| unknown.contains(own))
            })
            .count()
    }

    /// What was found.
    pub(crate) fn into_checks(self) -> Vec<Check> {
        self.checks
    }
}

async fn offenders(conn: &mut PgConnection, name: &str, query: &str) -> anyhow::Result<Check> {
    let statement = format!(
        "select count(*) as failures, coalesce((array_agg(who order by who))[1:{NAMED}], '{{}}') as examples
         from ({query}) as offenders (who)"
    );
    // The query is one of our own constants.
    let row = sqlx::query(AssertSqlSafe(statement))
        .fetch_one(conn)
        .await
        .with_context(|| name.to_owned())?;
    let failures: i64 = row.get("failures");
    Ok(Check {
        name: name.to_owned(),
        failures: usize::try_from(failures)?,
        examples: row.get("examples"),
    })
}
