//! Tells systemd when the process is ready and when it stops (`Type=notify`, `sd_notify(3)`).

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::net::UnixDatagram,
};

use ::api::Readiness;
use telemetry::{RepeatedFailure, failed, over};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The part of a message that `systemctl status` shows, in bytes. A reason can be longer.
const LONGEST_STATUS: usize = 512;

/// Tells systemd each change of the readiness until `stop`, and then that the process stops. Does nothing if systemd did
/// not start the process, or does not want to know.
pub(crate) fn tell_systemd(
    socket: Option<OsString>,
    mut readiness: watch::Receiver<Readiness>,
    stop: CancellationToken,
) {
    let Some(socket) = socket else {
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
