//! What a process waits for before it is ready: the schema, and the master key of the database.

use std::time::Duration;

use ::api::Readiness;
use store::{
    Error, PgConnection, PgPool,
    schema::{self, Standing},
    seal::{self, MasterKey},
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

pub(super) const SCHEMA_POLL: Duration = Duration::from_secs(1);

/// Waits until the database is there and has this binary's schema, then checks the master key and
/// says that the process is ready. Returns early, with `false`, if the process is told to stop.
///
/// From then on, it stays ready until it stops. Without the database, every process would be
/// unready, and answering 503 with `Retry-After` is better than not answering.
///
/// # Errors
/// The master key cannot open this database's secrets, or the schema is too new for this binary.
pub(crate) async fn wait_for_schema(
    pool: &PgPool,
    key: &MasterKey,
    ready: &watch::Sender<Readiness>,
    stop: &CancellationToken,
) -> anyhow::Result<bool> {
    let mut told = String::new();
    loop {
        let Some(obstacle) = obstacle(pool, key).await? else {
            ready.send_replace(Readiness::Ready);
            info!("ready");
            return Ok(true);
        };
        if obstacle != told {
            warn!(reason = obstacle, "not ready");
            ready.send_replace(Readiness::NotReady(obstacle.clone()));
            told = obstacle;
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(false),
            () = tokio::time::sleep(SCHEMA_POLL) => {}
        }
    }
}

/// Why a process cannot use the database yet. `None`: it can.
///
/// # Errors
/// A problem that does not go away by itself.
pub(super) async fn obstacle(pool: &PgPool, key: &MasterKey) -> anyhow::Result<Option<String>> {
    match database::fit(pool).await {
        Ok(()) => {}
        Err(unfit) if unfit.is_final() => return Err(unfit.into()),
        Err(error) => return Ok(Some(error.to_string())),
    }
    let standing = match schema::standing(pool).await {
        Ok(standing) => standing,
        Err(unready) if unready.is_final() => return Err(unready.into()),
        Err(error) => return Ok(Some(error.to_string())),
    };
    match check_key(pool, key).await {
        Ok(()) => {
            if standing != Standing::Current {
                info!("the schema is {standing}");
            }
            Ok(None)
        }
        Err(error @ Error::Unreadable(_)) => Err(wrong_key(error)),
        Err(error) => Ok(Some(error.to_string())),
    }
}

/// Refuses a master key that does not belong to this database.
pub(crate) async fn check_master_key(
    conn: &mut PgConnection,
    key: &MasterKey,
) -> anyhow::Result<()> {
    seal::check_master_key(conn, key)
        .await
        .map_err(|error| match error {
            error @ Error::Unreadable(_) => wrong_key(error),
            error => error.into(),
        })
}

pub(super) async fn check_key(pool: &PgPool, key: &MasterKey) -> Result<(), Error> {
    let mut conn = pool.acquire().await?;
    seal::check_master_key(&mut conn, key).await
}

pub(super) fn wrong_key(error: Error) -> anyhow::Error {
    anyhow::Error::new(error)
        .context("this master key did not seal the database's secrets; use the key that did")
}
