//! Many requests that wait at once. No worker runs at first, so all of them are open at the same time.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use futures::future::try_join_all;
use serde::Serialize;
use tokio::time::sleep;

use super::{Answered, TEXT_BYTES};
use crate::{
    http::{self, Client},
    load::accepted,
    processes::Kind,
    procfs::Usage,
    stack::Stack,
    texts::Texts,
};

const POLL: Duration = Duration::from_millis(20);
/// How long the submissions may take to be stored. The first of them wait for 10 s.
const STORED: Duration = Duration::from_secs(6);

/// What a crowd did.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct ConcurrentWaits {
    pub(super) requests: usize,
    /// Those whose answers had a verdict.
    pub(super) decided: usize,
    /// Resident memory of the API process without them and while all of them waited.
    pub(super) before_mib: f64,
    pub(super) waiting_mib: f64,
    pub(super) threads: u64,
    /// Seconds from the start of a worker process to the last answer.
    pub(super) seconds: f64,
}

/// Opens the requests, starts a worker when all are stored, and counts the verdicts.
pub(super) async fn crowd(
    stack: &mut Stack,
    requests: usize,
    seed: u64,
) -> anyhow::Result<ConcurrentWaits> {
    let api = &stack.apis[0];
    let (address, pid) = (api.address, api.pid().context("the API runs")?);
    let before = Usage::read(pid)?;
    let texts = Texts::new(seed);
    let sites = stack.sites.clone();
    let clients = (0..requests)
        .zip(sites.iter().cycle())
        .map(|(number, site)| async move {
            let text = texts.plain(number as u64, TEXT_BYTES);
            let request = http::waiting_submission(&site.key, &format!("crowd-{number}"), &text);
            let answer = Client::new(address).send(&request).await;
            let answer = answer.map_err(std::io::Error::from)?;
            accepted(&answer)?;
            let answered: Answered = serde_json::from_slice(&answer.body)?;
            anyhow::Ok(answered.is_decided())
        });
    let mut conn = stack.environment.cluster.connect().await?;
    let gatehouse = stack.gatehouse.clone();
    let working = async {
        let begun = Instant::now();
        loop {
            let stored: i64 = sqlx::query_scalar("select count(*) from media")
                .fetch_one(&mut conn)
                .await?;
            if usize::try_from(stored)? == requests {
                break;
            }
            ensure!(
                begun.elapsed() < STORED,
                "only {stored} were stored in time"
            );
            sleep(POLL).await;
        }
        let waiting = Usage::read(pid)?;
        let begun = Instant::now();
        let worker = gatehouse.start(Kind::Worker, 0).await?;
        anyhow::Ok((waiting, begun, worker))
    };
    let (answers, (waiting, begun, worker)) = tokio::try_join!(try_join_all(clients), working)?;
    let seconds = begun.elapsed().as_secs_f64();
    drop(worker);
    Ok(ConcurrentWaits {
        requests,
        decided: answers.into_iter().filter(|decided| *decided).count(),
        before_mib: before.resident_mib,
        waiting_mib: waiting.resident_mib,
        threads: waiting.threads,
        seconds,
    })
}
