//! How long verdicts take to arrive.

use std::time::{Duration, Instant};

use anyhow::ensure;
use domain::event::EventKind;

use super::Sent;
use crate::{latency::Latencies, receiver::Receiver};

const POLL: Duration = Duration::from_millis(20);

/// How long verdicts took to arrive, and how many did not.
pub(super) async fn told(
    receiver: &Receiver,
    sent: &[Sent],
    end: Instant,
) -> anyhow::Result<(Latencies, u64)> {
    let key = |sent: &Sent| (sent.media, EventKind::MediaModerated);
    loop {
        {
            let seen = receiver.seen();
            ensure!(
                seen.complaints == 0,
                "the receiver complains: {}",
                seen.examples.join("; ")
            );
            let all = sent
                .iter()
                .all(|sent| seen.by_event.contains_key(&key(sent)));
            if all || Instant::now() >= end {
                break;
            }
        }
        tokio::time::sleep(POLL).await;
    }
    let seen = receiver.seen();
    let (mut latencies, mut untold) = (Latencies::new(), 0);
    for sent in sent {
        if let Some(arrival) = seen.by_event.get(&key(sent)) {
            latencies.record(arrival.first - sent.due);
        } else {
            untold += 1;
            // It took at least this long.
            latencies.record(sent.due.elapsed());
        }
    }
    Ok((latencies, untold))
}
