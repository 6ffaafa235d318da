//! The first scene: the load is low, high, and low again. Each item takes the provider a while, so
//! a worker can do only so many in a second, and the machine's processors do not matter.

use std::{
    cell::{Cell, RefCell},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use serde::Serialize;
use sqlx::PgConnection;

use super::{
    Options, Signal,
    control_loop::{Shift, scale},
};
use crate::{
    chaos::{
        audit::Audit,
        client::{Customers, Ledger, Submission},
        drain::drain,
        outcome::Outcome,
        random_kills::RandomKills,
    },
    latency::{Latencies, Percentiles},
    load::{Ticks, ticks},
    provider::Provider,
    receiver::Manners,
    report::Machine,
    sites::Tenants,
    stack::{Shape, Stack, Surroundings},
};

const CONNECTIONS: usize = 32;
const PATIENCE: Duration = Duration::from_mins(1);
const SAMPLE: Duration = Duration::from_secs(1);

/// What happened.
#[derive(Debug, Serialize)]
pub(super) struct Steps {
    #[serde(flatten)]
    pub(super) outcome: Outcome,
    pub(super) signal: Signal,
    pub(super) times: Vec<Step>,
    pub(super) shift: Shift,
}

/// A time of one rate.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    pub(super) rate: f64,
    pub(super) seconds: u64,
    /// The age of the oldest undecided item, once a second.
    pub(super) lag: Percentiles,
}

/// What the processes need for a provider that takes this long.
pub(super) fn surroundings(options: &Options, provider: &Provider) -> Surroundings {
    Surroundings {
        environment: vec![
            ("GATEHOUSE_PROVIDERS", "openai".to_owned()),
            (
                "GATEHOUSE_OPENAI_URL",
                format!("http://{}", provider.address),
            ),
            ("GATEHOUSE_OPENAI_API_KEY", "sk-bench".to_owned()),
            ("GATEHOUSE_CONCURRENCY", options.concurrency.to_string()),
        ],
        ..Surroundings::default()
    }
}

pub(super) async fn slow_provider(options: &Options) -> anyhow::Result<Provider> {
    Provider::slow(Duration::from_millis(options.provider_ms)).await
}

pub(super) async fn play(options: &Options, seed: u64, load_before: f64) -> anyhow::Result<Steps> {
    let provider = slow_provider(options).await?;
    let shape = Shape {
        apis: 1,
        workers: 1,
        tenants: Tenants {
            sites: 8,
            sites_per_team: 1,
        },
        lease_seconds: 30,
        manners: Manners::default(),
    };
    let surroundings = surroundings(options, &provider);
    let mut stack = Stack::start_in(surroundings, &options.common, shape, seed).await?;
    let machine =
        Machine::describe(&mut stack.environment.cluster.connect().await?, load_before).await?;
    let customers = Customers::of(&stack, seed, CONNECTIONS);
    let ledger = RefCell::new(Ledger::default());
    let finished = Cell::new(false);
    let rates = [options.low, options.high, options.low];
    let rates: Vec<(f64, u64)> = rates
        .into_iter()
        .zip(options.seconds.iter().copied())
        .collect();
    let counts = rates
        .iter()
        .map(|(rate, seconds)| (*rate, ticks(*rate, *seconds)));
    let load = Ticks::in_steps(counts.collect());
    let began = Instant::now();
    let mut conn = stack.environment.cluster.connect().await?;
    let submitting = async {
        let submitted = customers.submit(&load, &ledger).await;
        finished.set(true);
        submitted
    };
    let watching = watch(&mut conn, &rates, began, &finished);
    let scaling = scale(
        &mut stack,
        options.policy(),
        options.clock(),
        began,
        &finished,
    );
    let ((), lags, shift) = tokio::try_join!(submitting, watching, scaling)?;
    let ledger = ledger.into_inner();

    let mut random_kills = RandomKills::default();
    let (drained, rest) = drain(&mut stack, &mut random_kills, PATIENCE).await?;
    let mut audit = Audit::begin(&stack, &ledger, &customers).await?;
    audit.expect("everything came to rest in time", rest);
    audit.expect(
        "no submission failed",
        ledger.unknown.iter().map(Submission::tag),
    );
    audit.expect(
        "every worker ended well",
        shift.deaths.iter().chain(&random_kills.deaths).cloned(),
    );
    audit.expect(
        "the number of workers rose with the load",
        (shift.most_workers <= 1).then(|| "there was never a second worker".to_owned()),
    );
    audit.expect(
        "it fell again",
        (stack.workers.len() >= shift.most_workers).then(|| stack.workers.len().to_string()),
    );
    audit.expect(
        "it rose once and fell once, like the load",
        (shift.turns != 1).then(|| format!("{} changes of direction", shift.turns)),
    );
    audit.run_without_verdicts().await?;
    let times = rates.iter().zip(lags).map(|(&(rate, seconds), lag)| Step {
        rate,
        seconds,
        lag: lag.percentiles(),
    });
    let times = times.collect();
    Ok(Steps {
        outcome: Outcome::of(audit, &ledger, machine, seed, drained),
        signal: options.signal,
        times,
        shift,
    })
}

/// Asks once a second how old the oldest undecided item is, at each step.
async fn watch(
    conn: &mut PgConnection,
    rates: &[(f64, u64)],
    began: Instant,
    finished: &Cell<bool>,
) -> anyhow::Result<Vec<Latencies>> {
    let mut lags = vec![Latencies::new(); rates.len()];
    while !finished.get() {
        let age: f64 = sqlx::query_scalar(
            "select coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8
             from media where status = 'pending'",
        )
        .fetch_one(&mut *conn)
        .await?;
        let mut ends = 0;
        let place = rates.iter().position(|(_, seconds)| {
            ends += seconds;
            began.elapsed() < Duration::from_secs(ends)
        });
        let step = place.unwrap_or(rates.len() - 1);
        let lag = lags.get_mut(step).context("a step")?;
        // An item may be stored by a transaction that began after this one.
        lag.record(Duration::from_secs_f64(age.max(0.0)));
        tokio::time::sleep(SAMPLE).await;
    }
    Ok(lags)
}
