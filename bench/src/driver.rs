//! The other side of [`crate::remote`]: a process in which our queue, or the loop written by hand, enqueues and works as
//! it is told on standard input. Its runtime has a thread for each core, as a service's has.

mod by_hand;
mod own;
mod recorder;
mod runs;

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub(crate) use self::own::QUEUE;
use self::{
    by_hand::{ByHand, Table},
    own::Own,
    recorder::Recorder,
    runs::Runs,
};
use crate::protocol::{About, Answer, Production, Progress, Request, Work};

/// Jobs to a bulk insert, and connections to enqueue through: the same for the peers.
const CHUNK: u64 = 5_000;
const CONNECTIONS: u32 = 8;
/// How often a steady producer enqueues what has become due.
const BEAT: Duration = Duration::from_millis(20);

/// Options of `driver`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// What runs
    mode: Mode,
    /// Where it connects to
    database_url: String,
}

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Our queue
    Queue,
    /// The loop written by hand, on a lean table of its own
    ByHand,
    /// The same loop on a table with all columns of ours but lanes
    ByHandLaneless,
}

/// The arguments of a job.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Job {
    n: u64,
    /// When it was to be enqueued, by [`crate::clock`]; 0 if nobody asks.
    #[serde(default)]
    due: u64,
    /// Whether its first attempt fails.
    #[serde(default)]
    fails: bool,
}

/// A job and the number of its lane.
#[derive(Clone, Copy, Debug)]
struct Placed {
    job: Job,
    lane: u64,
}

/// What can be driven.
trait Driven: Send + Sync + 'static {
    fn about(&self) -> About;

    /// Enqueues jobs with one statement and one commit.
    fn enqueue(
        &self,
        jobs: &[Placed],
        delay: Duration,
    ) -> impl Future<Output = anyhow::Result<()>> + Send;

    /// Starts to work.
    fn work(&self, work: Work, runs: Arc<Runs>);

    /// Stops working, in order: afterwards all that was done is in the database.
    async fn stop(&self) -> anyhow::Result<()>;

    /// Takes its leave before the process ends.
    async fn close(&self);
}

/// Answers requests until standard input ends.
pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let recorder = Recorder::install()?;
    match options.mode {
        Mode::Queue => serve(Own::open(&options.database_url).await?, recorder).await,
        Mode::ByHand => {
            let by_hand = ByHand::open(&options.database_url, Table::Bare).await?;
            serve(by_hand, recorder).await
        }
        Mode::ByHandLaneless => {
            let by_hand = ByHand::open(&options.database_url, Table::Laneless).await?;
            serve(by_hand, recorder).await
        }
    }
}

async fn serve(driven: impl Driven, recorder: Arc<Recorder>) -> anyhow::Result<()> {
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

/// Enqueues what has become due, every [`BEAT`], whatever the answers do.
async fn produce(
    driven: &impl Driven,
    production: Production,
    runs: &Runs,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let Production {
        rate,
        lanes,
        failing,
    } = production;
    let mut beats = interval(BEAT);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let begun = tokio::time::Instant::now();
    let mut enqueued = 0;
    loop {
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            _ = beats.tick() => {}
        }
        let elapsed = u64::try_from(begun.elapsed().as_millis()).context("a long time")?;
        let due = rate * elapsed / 1_000;
        let jobs: Vec<Placed> = (enqueued..due)
            .map(|n| {
                let mut placed = Placed::plain(n, n % lanes);
                placed.job.fails = n % failing == 0;
                placed
            })
            .collect();
        if !jobs.is_empty() {
            driven.enqueue(&jobs, Duration::ZERO).await?;
            runs.add_enqueued(due - enqueued);
            enqueued = due;
        }
    }
}

impl Placed {
    fn plain(n: u64, lane: u64) -> Self {
        let job = Job {
            n,
            due: 0,
            fails: false,
        };
        Self { job, lane }
    }
}
