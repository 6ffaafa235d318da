//! Claims at scale: a million waiting jobs in very many lanes, or most of them in one, with paused
//! and capped lanes. Measures how long a claim takes, how fast several processes claim, how fair
//! they are, and whether a cap is ever exceeded.

mod claim_runs;
mod distribution;
mod search;
mod shares;
mod table;
mod watch;

use std::time::Duration;

use clap::{Args, ValueEnum as _};
use serde::Serialize;

use self::{
    claim_runs::{Played, Stage},
    distribution::Scene,
    search::{PAUSED, Search, search},
};
use crate::{
    environment::{Environment, EnvironmentOptions},
    report::Machine,
};

/// Options of `lanes`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) environment: EnvironmentOptions,
    /// Claims of the process that claims alone
    #[arg(long, default_value_t = 2_000)]
    claims: usize,
    /// The longest that several claim together, in seconds
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Only these
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Scene>,
    /// Everything at a twentieth of the size: shows that it works, not how fast
    #[arg(long)]
    quick: bool,
}

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Claimed {
    machine: Machine,
    scenes: Vec<Played>,
    search: Search,
}

/// Runs the benchmark.
pub(crate) async fn run(options: Options) -> anyhow::Result<Claimed> {
    let load_before = Machine::load_before();
    let (environment, pool) = Environment::with_queue(&options.environment).await?;
    pool.close().await;
    let mut conn = environment.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    let (divisor, claims) = if options.quick {
        (20, options.claims / 20)
    } else {
        (1, options.claims)
    };
    let scenes = if options.only.is_empty() {
        Scene::value_variants()
    } else {
        &options.only
    };
    let mut played = Vec::new();
    for &scene in scenes {
        eprintln!("{}", scene.title());
        let stage = Stage {
            environment: &environment,
            claims,
            together: Duration::from_secs(options.seconds),
        };
        let one = stage.play(&mut conn, scene, divisor).await?;
        eprintln!("  {}; together {:.0}/s", one.alone, one.together_rate);
        played.push(one);
    }
    eprintln!("the only lane of {} that is not paused", PAUSED / divisor);
    let search = search(&environment, &mut conn, PAUSED / divisor).await?;
    Ok(Claimed {
        machine,
        scenes: played,
        search,
    })
}
