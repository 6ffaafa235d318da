//! The server's time for every page of the console, with a month of a busy team in the database. One person asks for one page
//! after the other, and nothing else runs.

mod browser;
mod crawl;
mod item_kinds;
mod measure;
mod people;
mod sample_data;
mod table;

use std::{future, time::Instant};

use anyhow::ensure;
use clap::Args;

pub(crate) use self::table::Pages;
use self::{browser::Browser, crawl::Page, measure::Measured};
use crate::{
    cluster::Role,
    processes::Kind,
    report::{self, Machine},
    stack::{CommonOptions, Shape, Stack, without_pauses},
};

/// Sites of the team. Each has a webhook endpoint.
const SITES: usize = 20;
/// How often each page is asked for before it is measured.
const WARM_UPS: u32 = 3;

/// Options of `pages`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// Items of the team
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(20_000..=10_000_000))]
    items: u32,
    /// Deliveries of the team; at most twice the items
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(2_000..=10_000_000))]
    deliveries: u32,
    /// Entries of hash lists
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1_000..=1_000_000))]
    hashes: u32,
    /// How often each page is measured
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Few items and rounds: shows that it works, not how fast
    #[arg(long)]
    quick: bool,
    /// Print the report, then keep everything running until Ctrl-C, to look into a page
    #[arg(long)]
    hold: bool,
}

/// Runs the measurement.
pub(crate) async fn run(mut options: Options) -> anyhow::Result<Pages> {
    if options.quick {
        (options.items, options.deliveries, options.hashes) = (20_000, 2_000, 2_000);
        options.rounds = 3;
    }
    ensure!(
        options.deliveries <= 2 * options.items,
        "an item has two deliveries at most"
    );
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    let shape = Shape::of_one_team(0, SITES);
    let mut stack = Stack::start(&options.common, shape, seed).await?;
    let mut conn = stack.environment.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    let begun = Instant::now();
    let filled = sample_data::fill(&mut conn, &options, seed).await?;
    let fill_seconds = begun.elapsed().as_secs_f64();
    eprintln!(
        "filled in {fill_seconds:.0} s: {} MiB",
        filled.bytes / 1_048_576
    );
    stack.gatehouse.environment.extend(without_pauses());
    let api = stack.gatehouse.start(Kind::Console, 0).await?;
    let mut browsers = [
        Browser::new(api.address, Some(&filled.owner)),
        Browser::new(api.address, Some(&filled.operator)),
        Browser::new(api.address, None),
    ];
    let found = crawl::crawl(
        &mut browsers[0],
        &[filled.start.clone(), "/account".to_owned()],
    )
    .await?;
    let pages = found.pages.into_iter();
    let mut pages: Vec<Measured> = pages.map(|page| Measured::new(0, page)).collect();
    let of_operator = crawl::crawl(&mut browsers[1], &["/instance/teams".to_owned()]).await?;
    let more = of_operator.pages.into_iter();
    pages.extend(more.map(|page| Measured::new(1, page)));
    for special in filled.special {
        pages.push(Measured::new(
            special.browser,
            Page::special(&special.path, &special.what),
        ));
    }
    pages.push(Measured::new(2, Page::special("/sign-in", "no query")));
    let mut unmeasured = found.not_shown;
    unmeasured.extend(of_operator.not_shown);
    eprintln!("{} pages, {} rounds", pages.len(), options.rounds);
    let clock =
        measure::rounds(&mut browsers, &mut pages, (WARM_UPS, options.rounds), &api).await?;
    let report = Pages::new(
        machine,
        seed,
        (options.items, options.deliveries, options.rounds),
        (fill_seconds, filled.bytes),
        pages,
        unmeasured,
        clock,
    );
    if options.hold {
        report::print(&report, options.common.environment.json)?;
        eprintln!(
            "the console is http://{}, with the cookie {}; Postgres is {}",
            api.address,
            browsers[0].cookie(),
            stack.environment.cluster.url(Role::Postgres)
        );
        future::pending::<()>().await;
    }
    Ok(report)
}
