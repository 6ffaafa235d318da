//! What a process waits for before it is ready: the schema, and the master key of the database.

use std::{ffi::OsStr, io, os::unix::net::UnixDatagram, time::Duration};

use ::api::Readiness;
use store::{
    Error, PgConnection, PgPool,
    encryption::{self, MasterKey},
    schema::{self, Compatibility, Unready},
};
use telemetry::{RepeatedFailure, failed, over};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::config;

const SCHEMA_POLL: Duration = Duration::from_secs(1);

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
    // One for each kind of obstacle: that the schema is missing is news after the database was away.
    let (absent, missing) = (RepeatedFailure::in_turn(), RepeatedFailure::in_turn());
    loop {
        let Some(obstacle) = obstacle(pool, key).await? else {
            ready.send_replace(Readiness::Ready);
            let waited = missing.worked().or(absent.worked());
            info!(waited_seconds = waited.map(|over| over.seconds()), "ready");
            return Ok(true);
        };
        let (trouble, reason) = match &obstacle {
            Obstacle::Absent(reason) => (&absent, reason.as_str()),
            Obstacle::Schema(reason) => (&missing, reason.as_str()),
        };
        failed!(trouble.failed(), reason, "not ready");
        ready.send_if_modified(|told| {
            let now = Readiness::NotReady(reason.to_owned());
            let is_news = *told != now;
            *told = now;
            is_news
        });
        tokio::select! {
            () = stop.cancelled() => return Ok(false),
            () = tokio::time::sleep(SCHEMA_POLL) => {}
        }
    }
}

/// Why a process cannot use the database yet.
enum Obstacle {
    /// The database cannot be reached or asked.
    Absent(String),
    /// It does not have a schema that this binary can serve.
    Schema(String),
}

/// What a process waits for. `None`: nothing.
///
/// # Errors
/// A problem that does not go away by itself.
async fn obstacle(pool: &PgPool, key: &MasterKey) -> anyhow::Result<Option<Obstacle>> {
    match database::check_server(pool).await {
        Ok(()) => {}
        Err(unfit) if unfit.is_final() => return Err(unfit.into()),
        Err(error) => return Ok(Some(Obstacle::Absent(error.to_string()))),
    }
    let standing = match schema::compatibility(pool).await {
        Ok(standing) => standing,
        Err(unready) if unready.is_final() => return Err(unready.into()),
        Err(Unready::Failed(error)) => return Ok(Some(Obstacle::Absent(error.to_string()))),
        Err(unready) => return Ok(Some(Obstacle::Schema(unready.to_string()))),
    };
    match check_key(pool, key).await {
        Ok(()) => {
            if standing != Compatibility::Current {
                info!("the schema is {standing}");
            }
            Ok(None)
        }
        Err(error @ Error::Unreadable(_)) => Err(wrong_key(error)),
        Err(error) => Ok(Some(Obstacle::Absent(error.to_string()))),
    }
}

/// Refuses a master key that does not belong to this database.
pub(crate) async fn check_master_key(
    conn: &mut PgConnection,
    key: &MasterKey,
) -> anyhow::Result<()> {
    encryption::check_master_key(conn, key)
        .await
        .map_err(|error| match error {
            error @ Error::Unreadable(_) => wrong_key(error),
            error => error.into(),
        })
}

async fn check_key(pool: &PgPool, key: &MasterKey) -> Result<(), Error> {
    let mut conn = pool.acquire().await?;
    encryption::check_master_key(&mut conn, key).await
}

fn wrong_key(error: Error) -> anyhow::Error {
    anyhow::Error::new(error)
        .context("this master key did not seal the database's secrets; use the key that did")
}

/// The part of a message that `systemctl status` shows, in bytes. A reason can be longer.
const LONGEST_STATUS: usize = 512;

/// Tells systemd each change of the readiness until `stop`, and then that the process stops. Does nothing if systemd did
/// not start the process, or does not want to know.
pub(crate) fn tell_systemd(mut readiness: watch::Receiver<Readiness>, stop: CancellationToken) {
    let Some(socket) = config::notify_socket() else {
        return;
    };
    tokio::spawn(async move {
        let trouble = RepeatedFailure::in_turn();
        let tell = |message: &str| match send(&socket, message) {
            Ok(()) => over!(
                trouble.worked(),
                "systemd hears of the state of this process again"
            ),
            Err(error) => failed!(
                trouble.failed(),
                %error,
                "cannot tell systemd about the state of this process"
            ),
        };
        loop {
            tell(&state(&readiness.borrow_and_update()));
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                changed = readiness.changed() => if changed.is_err() {
                    return;
                }
            }
        }
        tell("STOPPING=1\nSTATUS=stopping");
    });
}

fn state(readiness: &Readiness) -> String {
    match readiness {
        Readiness::Ready => "READY=1\nSTATUS=ready".to_owned(),
        Readiness::NotReady(reason) => {
            // A line break would begin another assignment.
            let line: String = reason.split_whitespace().collect::<Vec<_>>().join(" ");
            let end = line.floor_char_boundary(LONGEST_STATUS);
            format!("STATUS=not ready: {}", &line[..end])
        }
    }
}

/// Sends one message. A name that begins with `@` is in Linux's abstract namespace.
fn send(socket: &OsStr, message: &str) -> io::Result<()> {
    let sender = UnixDatagram::unbound()?;
    sender.set_nonblocking(true)?;
    #[cfg(target_os = "linux")]
    if let Some(name) = socket.as_encoded_bytes().strip_prefix(b"@") {
        use std::os::{linux::net::SocketAddrExt as _, unix::net::SocketAddr};

        let address = SocketAddr::from_abstract_name(name)?;
        sender.send_to_addr(message.as_bytes(), &address)?;
        return Ok(());
    }
    sender.send_to(message.as_bytes(), socket)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_short_line() {
        let reason = format!("one\nREADY=1 {}", "ä".repeat(1_000));
        let told = state(&Readiness::NotReady(reason));
        assert!(told.starts_with("STATUS=not ready: one READY=1 ä"));
        assert!(
            told.len() < LONGEST_STATUS + 20 && !told.contains('\n'),
            "{told}"
        );
    }
}
