//! The audit after the chaos: what customers were promised, what Postgres holds, what the interface says and what the
//! receiver got must be one story.

mod checks;

use std::collections::{HashMap, HashSet};

use anyhow::Context as _;
use domain::{event::EventKind, media::Status};
use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, PgConnection, Row as _};
use uuid::Uuid;

use super::client::{Customers, Ledger, Submission};
use crate::{
    http::{self, Client},
    stack::Stack,
};

/// How many offenders are named.
const NAMED: usize = 3;
/// How many items the interface is asked about.
const SAMPLE: usize = 1_000;

/// Something that must hold.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Check {
    pub(super) name: String,
    /// How often it does not.
    pub(super) failures: usize,
    /// The first few offenders.
    pub(super) examples: Vec<String>,
}

/// An item as it is stored.
struct Stored {
    submission: Option<Submission>,
    status: Status,
}

/// A delivery as it is stored.
struct Told {
    delivery: Uuid,
    event: Uuid,
}

/// The audit under way.
pub(super) struct Audit<'a> {
    stack: &'a Stack,
    ledger: &'a Ledger,
    customers: &'a Customers,
    conn: PgConnection,
    stored: HashMap<Uuid, Stored>,
    checks: Vec<Check>,
}

impl<'a> Audit<'a> {
    /// Reads what is stored.
    pub(super) async fn begin(
        stack: &'a Stack,
        ledger: &'a Ledger,
        customers: &'a Customers,
    ) -> anyhow::Result<Self> {
        let mut conn = stack.ground.cluster.connect().await?;
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
    pub(super) fn expect(&mut self, name: &str, offenders: impl IntoIterator<Item = String>) {
        let mut offenders = offenders.into_iter();
        let examples: Vec<String> = offenders.by_ref().take(NAMED).collect();
        let failures = examples.len() + offenders.count();
        self.checks.push(Check {
            name: name.to_owned(),
            failures,
            examples,
        });
    }

    /// Does all of it.
    ///
    /// # Errors
    /// The database or the interface could not be asked.
    pub(super) async fn run(&mut self) -> anyhow::Result<()> {
        self.promises();
        self.verdicts();
        for (name, query) in checks::ALL {
            let check = offenders(&mut self.conn, name, query).await?;
            self.checks.push(check);
        }
        self.webhooks().await?;
        self.interface().await
    }

    /// How many submissions without an answer are stored.
    pub(super) fn unknown_stored(&self) -> usize {
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
    pub(super) fn into_checks(self) -> Vec<Check> {
        self.checks
    }

    fn promises(&mut self) {
        let Self { ledger, stored, .. } = &*self;
        let broken = ledger.accepted.iter().filter(|(id, submission)| {
            stored
                .get(id)
                .is_none_or(|item| item.submission.as_ref() != Some(submission))
        });
        let broken: Vec<String> = broken.map(|(id, _)| id.to_string()).collect();

        let mut known: HashSet<&Submission> = ledger
            .unknown
            .iter()
            .chain(ledger.accepted.values())
            .collect();
        // Each submission may be stored once, so it is taken out when it is found.
        let invented = stored.iter().filter(|(_, item)| {
            !item
                .submission
                .as_ref()
                .is_some_and(|own| known.remove(own))
        });
        let invented: Vec<String> = invented.map(|(id, _)| id.to_string()).collect();
        self.expect("every accepted item is stored", broken);
        self.expect("every stored item was submitted once", invented);
    }

    fn verdicts(&mut self) {
        let wrong = self.stored.iter().filter_map(|(id, item)| {
            let number = item.submission.as_ref()?.number;
            let expected = self.customers.text(number).expected?;
            (item.status != expected)
                .then(|| format!("{id} (text {number}) is {}, not {expected}", item.status))
        });
        let wrong: Vec<String> = wrong.collect();
        self.expect("verdicts are what the rules demand", wrong);
    }

    async fn webhooks(&mut self) -> anyhow::Result<()> {
        let rows = sqlx::query(
            "
            select e.media_id, e.kind, e.id as event, d.id as delivery
            from events e
            join deliveries d on d.event_id = e.id
            ",
        )
        .fetch_all(&mut self.conn)
        .await?;
        let mut told = HashMap::new();
        for row in &rows {
            let kind: EventKind = row.get::<&str, _>("kind").parse()?;
            let own = Told {
                delivery: row.get("delivery"),
                event: row.get("event"),
            };
            told.insert((row.get::<Uuid, _>("media_id"), kind), own);
        }

        let seen = self.stack.receiver.seen();
        let mut missing = Vec::new();
        let mut wrong = Vec::new();
        for (id, item) in &self.stored {
            for kind in EventKind::ALL {
                let name = format!("{kind} of {id}");
                let Some(arrival) = seen.arrivals.get(&(*id, *kind)) else {
                    missing.push(name);
                    continue;
                };
                let status = match kind {
                    EventKind::MediaCreated => Status::Pending,
                    EventKind::MediaModerated => item.status,
                };
                let site = item
                    .submission
                    .as_ref()
                    .map(|own| self.customers.site(own.number));
                let is_told = told.get(&(*id, *kind)).is_some_and(|own| {
                    own.delivery == arrival.delivery && own.event == arrival.event
                });
                if arrival.status != status || site != Some(arrival.site) || !is_told {
                    wrong.push(name);
                }
            }
        }
        let invented: Vec<String> = seen
            .arrivals
            .keys()
            .filter(|(id, _)| !self.stored.contains_key(id))
            .map(|(id, _)| id.to_string())
            .collect();
        let complaints: Vec<String> = seen
            .examples
            .iter()
            .cloned()
            .chain((seen.examples.len() as u64..seen.complaints).map(|_| String::new()))
            .collect();
        drop(seen);
        self.expect("both webhooks of every item arrived", missing);
        self.expect("webhooks tell what is stored", wrong);
        self.expect("no webhook is about something not stored", invented);
        self.expect("signatures and repetitions are right", complaints);
        Ok(())
    }

    /// Asks the interface about a sample, evenly spread, at each API process by turns.
    async fn interface(&mut self) -> anyhow::Result<()> {
        #[derive(Deserialize)]
        struct Answer {
            media_id: Uuid,
            status: Status,
        }

        let mut clients: Vec<Client> = self
            .customers
            .apis
            .iter()
            .copied()
            .map(Client::new)
            .collect();
        let step = self.ledger.accepted.len().div_ceil(SAMPLE).max(1);
        let mut wrong = Vec::new();
        for (turn, (id, submission)) in self.ledger.accepted.iter().step_by(step).enumerate() {
            let key = &self.customers.sites[self.customers.site(submission.number)].key;
            let place = turn % clients.len();
            let answer = clients[place]
                .send(&http::status_query(key, *id))
                .await
                .map_err(std::io::Error::from)?;
            let told: Option<Answer> = serde_json::from_slice(&answer.body).ok();
            let told = told
                .filter(|told| answer.status == 200 && told.media_id == *id)
                .map(|told| told.status);
            if told.is_none() || told != self.stored.get(id).map(|item| item.status) {
                wrong.push(format!("{id} (answer {})", answer.status));
            }
        }
        self.expect("the interface tells what is stored (sample)", wrong);
        Ok(())
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
