//! Finds out which of several hosts can write.

use std::time::{Duration, Instant};

use sqlx::{PgConnection, postgres::PgConnectOptions};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    connection_setup::open,
    connection_shortage,
    errors::{count_error, deadline_exceeded, error_message, plain_error},
    url::{self, Hosts},
};

/// How long a server may take to answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// The pause between two tries to get a connection of a server that has none left.
const PAUSE: Duration = Duration::from_millis(200);
/// For so long, a command tries to get a connection while Postgres has none left. Processes notice
/// within a second, and hand back what they do not use.
const FULL: Duration = Duration::from_secs(10);

/// Why no host can write: the reason of each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the database cannot be used: {reasons}")]
pub struct Unreachable {
    reasons: String,
    /// A server has no connection left.
    pub(crate) is_full: bool,
}

impl Hosts {
    /// The same hosts, the one that can write first. While no connection is left, it tries again
    /// for some seconds.
    ///
    /// # Errors
    /// No host can. The reasons are those of the connections themselves. A pool would keep trying,
    /// and then report only a timeout.
    pub async fn with_writable_first(self) -> Result<Self, Unreachable> {
        let end = Instant::now() + FULL;
        loop {
            match find(&self, 0).await {
                Ok((place, _)) => return Ok(self.led_by(place)),
                Err(full) if full.is_full && Instant::now() < end => sleep(PAUSE).await,
                Err(unreachable) => return Err(unreachable),
            }
        }
    }
}

/// Asks all hosts. The preferred one is taken if it can write, else the first that can.
pub(crate) async fn find(
    hosts: &Hosts,
    preferred: usize,
) -> Result<(usize, PgConnection), Unreachable> {
    let mut asked = JoinSet::new();
    for (place, options) in hosts.each().iter().enumerate() {
        let options = named(options);
        asked.spawn(async move { (place, within_patience(open(&options)).await) });
    }
    let mut answers = asked.join_all().await;
    answers.sort_by_key(|(place, _)| (*place != preferred, *place));
    let mut reasons = Vec::new();
    for (place, answer) in answers {
        match answer {
            Ok(conn) => return Ok((place, conn)),
            Err(reason) => reasons.push((place, reason)),
        }
    }
    let is_full = reasons
        .iter()
        .any(|(_, reason)| connection_shortage::is_refusal(reason));
    // A standby beside a primary is no error.
    for (_, reason) in &reasons {
        count_error(reason);
    }
    let reasons: Vec<String> = reasons
        .into_iter()
        .map(|(place, reason)| {
            format!(
                "{}: {}",
                url::name(&hosts.each()[place]),
                error_message(&reason)
            )
        })
        .collect();
    Err(Unreachable {
        reasons: reasons.join("; "),
        is_full,
    })
}

pub(crate) fn named(options: &PgConnectOptions) -> PgConnectOptions {
    options.clone().application_name("gatehouse watch")
}

/// The answer, or the reason why there is none.
pub(crate) async fn within_patience<T>(
    asking: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    timeout(PATIENCE, asking)
        .await
        .unwrap_or_else(|_| Err(deadline_exceeded(PATIENCE)))
        .map_err(plain_error)
}
