//! Load: as fast as the answers come (closed loop), or at a fixed rate whatever the answers do (open loop).

use std::{
    cell::Cell,
    net::SocketAddr,
    rc::Rc,
    thread,
    time::{Duration, Instant},
};

use anyhow::bail;
use futures::future::try_join_all;
use tokio::sync::{Mutex, mpsc};

use crate::{
    http::{Answer, Client},
    latency::Latencies,
    requests::Requests,
};

/// What a closed loop achieved.
pub(crate) struct Throughput {
    pub(crate) answered: u64,
    pub(crate) elapsed: Duration,
    pub(crate) latencies: Latencies,
}

impl Throughput {
    /// Answers a second.
    pub(crate) fn rate(&self) -> f64 {
        per_second(self.answered, self.elapsed)
    }
}

/// How many of something a second.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(crate) fn per_second(count: u64, elapsed: Duration) -> f64 {
    count as f64 / elapsed.as_secs_f64()
}

/// When a closed loop ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Extent {
    /// No request is sent after this time.
    Lasting(Duration),
    /// This number of requests is sent.
    Of(u64),
}

/// `connections` clients, each of which sends the next request as soon as its last is answered.
///
/// # Errors
/// Any answer except a 200 ends the measurement, because it would measure something else.
pub(crate) async fn closed(
    address: SocketAddr,
    requests: &Requests,
    connections: usize,
    extent: Extent,
) -> anyhow::Result<Throughput> {
    let start = Instant::now();
    let sent = Cell::new(0);
    let goes_on = || match extent {
        Extent::Lasting(duration) => start.elapsed() < duration,
        Extent::Of(count) => sent.replace(sent.get() + 1) < count,
    };
    let clients = (0..connections).map(|_| async {
        let mut client = Client::new(address);
        let mut latencies = Latencies::new();
        let mut request = Vec::new();
        while goes_on() {
            requests.next(&mut request);
            let sent = Instant::now();
            accepted(&client.send(&request).await.map_err(std::io::Error::from)?)?;
            latencies.record(sent.elapsed());
        }
        anyhow::Ok(latencies)
    });
    let mut latencies = Latencies::new();
    for own in try_join_all(clients).await? {
        latencies.merge(&own);
    }
    Ok(Throughput {
        answered: latencies.count(),
        elapsed: start.elapsed(),
        latencies,
    })
}

/// Fails on any answer except a 200.
pub(crate) fn accepted(answer: &Answer) -> anyhow::Result<()> {
    if answer.status != 200 {
        bail!(
            "the answer is {}: {}",
            answer.status,
            String::from_utf8_lossy(&answer.body)
        );
    }
    Ok(())
}

/// A time to do something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick {
    /// Which, from 0 unless it was started otherwise.
    pub(crate) index: u64,
    /// When it should start. Latencies count from here, so they include the wait for slow earlier
    /// ones.
    pub(crate) due: Instant,
}

/// Ticks that clients share.
#[derive(Clone)]
pub(crate) struct Ticks(Rc<Mutex<mpsc::UnboundedReceiver<Tick>>>);

impl Ticks {
    /// `count` ticks at `rate` a second, from now on. They come from a separate thread, because
    /// tokio's timer is only accurate to a millisecond.
    pub(crate) fn start(rate: f64, count: u64) -> Self {
        Self::in_steps(vec![(rate, count)])
    }

    /// Ticks at `rate` a second until they are closed, from now on. The first has this index.
    pub(crate) fn endless(rate: f64, first: u64) -> Self {
        Self::numbered(first, vec![(rate, u64::MAX)])
    }

    /// Ticks at one rate after another, from now on: of each rate this number.
    pub(crate) fn in_steps(steps: Vec<(f64, u64)>) -> Self {
        Self::numbered(0, steps)
    }

    fn numbered(first: u64, steps: Vec<(f64, u64)>) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        thread::spawn(move || {
            let mut due = Instant::now();
            let mut index = first;
            for (rate, count) in steps {
                let interval = Duration::from_secs_f64(1.0 / rate);
                for _ in 0..count {
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                    if sender.send(Tick { index, due }).is_err() {
                        return;
                    }
                    index += 1;
                    due += interval;
                }
            }
        });
        Self(Rc::new(Mutex::new(receiver)))
    }

    /// `count` ticks that are all due now.
    pub(crate) fn at_once(count: u64) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let due = Instant::now();
        for index in 0..count {
            // The receiver exists in this function.
            let _ = sender.send(Tick { index, due });
        }
        Self(Rc::new(Mutex::new(receiver)))
    }

    /// Stops the ticks.
    pub(crate) async fn close(&self) {
        self.0.lock().await.close();
    }

    /// The next one; none when all are taken.
    pub(crate) async fn next(&self) -> Option<Tick> {
        self.0.lock().await.recv().await
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are small and positive"
)]
#[expect(clippy::cast_precision_loss, reason = "seconds are few")]
/// How many ticks come in so many seconds at a rate.
pub(crate) fn ticks(rate: f64, seconds: u64) -> u64 {
    (rate * seconds as f64).ceil() as u64
}

/// Does one thing after the other at a rate, and says how long each took from when it was due.
pub(crate) async fn paced(
    rate: f64,
    count: u64,
    mut act: impl AsyncFnMut() -> anyhow::Result<()>,
) -> anyhow::Result<Latencies> {
    let ticks = Ticks::start(rate, count);
    let mut latencies = Latencies::new();
    while let Some(tick) = ticks.next().await {
        act().await?;
        latencies.record(tick.due.elapsed());
    }
    Ok(latencies)
}
