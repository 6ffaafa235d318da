//! Answers requests from standard input on standard output.

use std::{sync::Arc, time::Duration};

use futures::future::try_join_all;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    task::JoinSet,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Driven, Placed, producer::produce, recorder::Recorder, runs::Runs};
use crate::protocol::{Answer, Progress, Request};

/// Jobs to a bulk insert: the same for the peers.
const CHUNK: u64 = 5_000;

pub(super) async fn serve(driven: impl Driven, recorder: Arc<Recorder>) -> anyhow::Result<()> {
    let mut output = tokio::io::stdout();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let about = serde_json::to_value(driven.about())?;
    let mut server = Server {
        driven: Arc::new(driven),
        runs: Arc::default(),
        recorder,
        adding: JoinSet::new(),
        background: TaskTracker::new(),
        stop: CancellationToken::new(),
    };
    let mut answer = Some(Answer::Ok(about));
    loop {
        if let Some(answer) = answer {
            let mut line = serde_json::to_vec(&answer)?;
            line.push(b'\n');
            output.write_all(&line).await?;
            output.flush().await?;
        }
        let Some(line) = lines.next_line().await? else {
            server.driven.close().await;
            return Ok(());
        };
        let answered = server.answer(serde_json::from_str(&line)?).await;
        answer = match answered {
            Ok(value) => value.map(Answer::Ok),
            Err(error) => Some(Answer::Error(format!("{error:#}"))),
        };
    }
}

struct Server<D> {
    driven: Arc<D>,
    runs: Arc<Runs>,
    recorder: Arc<Recorder>,
    adding: JoinSet<anyhow::Result<()>>,
    background: TaskTracker,
    stop: CancellationToken,
}

impl<D: Driven> Server<D> {
    async fn answer(&mut self, request: Request) -> anyhow::Result<Option<Value>> {
        Ok(Some(match request {
            Request::Enqueue { jobs, tasks } => {
                self.one_by_one(jobs, tasks).await?;
                Value::Null
            }
            Request::Bulk {
                jobs,
                lanes,
                delay_s,
            } => {
                let delay = Duration::from_secs(delay_s);
                for first in (0..jobs).step_by(usize::try_from(CHUNK)?) {
                    let numbers = first..jobs.min(first + CHUNK);
                    let chunk: Vec<Placed> = numbers.map(|n| Placed::plain(n, n % lanes)).collect();
                    self.driven.enqueue(&chunk, delay).await?;
                }
                Value::Null
            }
            Request::Work(work) => {
                self.driven.work(work, self.runs.clone());
                Value::Null
            }
            Request::Await { ran } => {
                self.runs.reach(ran).await;
                json!(self.runs.started())
            }
            Request::Ran => json!(self.runs.started()),
            Request::Latencies => json!(self.runs.take_latencies()),
            Request::Add { due, lane, .. } => {
                let driven = self.driven.clone();
                let mut placed = Placed::plain(0, lane);
                placed.job.due = due;
                self.adding
                    .spawn(async move { driven.enqueue(&[placed], Duration::ZERO).await });
                return Ok(None);
            }
            Request::Settle => {
                let mut settled = 0;
                while let Some(added) = self.adding.join_next().await {
                    added??;
                    settled += 1;
                }
                json!(settled)
            }
            Request::Produce(production) => {
                let (driven, runs) = (self.driven.clone(), self.runs.clone());
                let stop = self.stop.clone();
                self.background.spawn(async move {
                    if let Err(error) = produce(&*driven, production, &runs, stop).await {
                        eprintln!("cannot produce any more: {error:#}");
                    }
                });
                Value::Null
            }
            Request::Progress => serde_json::to_value(Progress {
                enqueued: self.runs.enqueued(),
                done: self.runs.done(),
                claims_us: self.recorder.take_claims(),
                waits_us: self.recorder.take_waits(),
            })?,
            Request::Stop => {
                self.stop.cancel();
                self.background.close();
                self.background.wait().await;
                self.driven.stop().await?;
                Value::Null
            }
        }))
    }

    async fn one_by_one(&self, jobs: u64, tasks: u64) -> anyhow::Result<()> {
        let tasks = (0..tasks).map(|task| {
            let driven = self.driven.clone();
            tokio::spawn(async move {
                for n in (task..jobs).step_by(usize::try_from(tasks)?) {
                    driven
                        .enqueue(&[Placed::plain(n, n % 100)], Duration::ZERO)
                        .await?;
                }
                anyhow::Ok(())
            })
        });
        for ended in try_join_all(tasks).await? {
            ended?;
        }
        Ok(())
    }
}
