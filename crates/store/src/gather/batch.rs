//! Forms batches from the calls that wait, and runs them.

use std::{
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use fair_share::RoundRobin;
use tokio::sync::{Semaphore, mpsc};

use super::{
    Bounds,
    call::{Call, Waiting},
};

pub(super) async fn gather<Q, A, H, F, R>(
    bounds: Bounds,
    mut arriving: mpsc::Receiver<Vec<Waiting<Q, A, H>>>,
    away: Arc<AtomicBool>,
    run: F,
) where
    H: Clone + Eq + Hash,
    F: Fn(Vec<Call<Q, A, H>>) -> R,
    R: Future<Output = ()> + Send + 'static,
{
    let runners = Arc::new(Semaphore::new(bounds.runners));
    let mut lines = RoundRobin::default();
    while let Ok(runner) = Arc::clone(&runners).acquire_owned().await {
        if away.load(Ordering::Relaxed) {
            // The last batch was given up, and these calls would wait as long for nothing.
            while arriving.try_recv().is_ok() {}
            while lines.pop().is_some() {}
        }
        let batch = loop {
            while let Ok(together) = arriving.try_recv() {
                line_up(&mut lines, together);
            }
            let batch = next_batch(bounds, &mut lines);
            if !batch.is_empty() {
                break batch;
            }
            match arriving.recv().await {
                Some(together) => line_up(&mut lines, together),
                None => return,
            }
        };
        let running = run(batch);
        tokio::spawn(async move {
            running.await;
            drop(runner);
        });
    }
}

fn line_up<Q, A, H: Clone + Eq + Hash>(
    lines: &mut RoundRobin<H, Waiting<Q, A, H>>,
    together: Vec<Waiting<Q, A, H>>,
) {
    for waiting in together {
        lines.push(&waiting.holder.clone(), waiting);
    }
}

/// The next calls of all holders in turn. Empty if nobody waits any more.
fn next_batch<Q, A, H: Clone + Eq + Hash>(
    bounds: Bounds,
    lines: &mut RoundRobin<H, Waiting<Q, A, H>>,
) -> Vec<Call<Q, A, H>> {
    let mut batch: Vec<Call<Q, A, H>> = Vec::new();
    let mut bytes = 0;
    while batch.len() < bounds.batch
        && let Some((holder, waiting)) = lines.pop()
    {
        if waiting.call.reply.is_closed() {
            continue;
        }
        if !batch.is_empty() && bytes + waiting.call.weight > bounds.batch_bytes {
            lines.put_back_first(&holder, waiting);
            break;
        }
        bytes += waiting.call.weight;
        let Waiting { call, place, .. } = waiting;
        drop(place);
        batch.push(call);
    }
    batch
}
