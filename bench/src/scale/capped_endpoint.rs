//! The second scene: thousands of deliveries wait for an endpoint that answers slowly. Its cap lets
//! few of them run at once, however many workers there are. Other teams submit a little meanwhile.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{
    Options,
    control_loop::{Shift, scale},
    load_steps::{slow_provider, surroundings},
};
use crate::{
    deliveries::backlog::Backlog,
    latency::Percentiles,
    load::{Ticks, ticks},
    receiver::Manners,
    sites::Tenants,
    stack::{Shape, Stack},
    texts::Texts,
    verdicts::{latencies, submit},
};

/// The site with the slow endpoint, and one of another team.
const SLOW: usize = 0;
const WELL: usize = 1;
/// How long the endpoint takes.
const ANSWERS_AFTER: Duration = Duration::from_secs(3);
/// Items in a job.
const PAGE: u32 = 32;

/// What happened.
#[derive(Debug, Serialize)]
pub(super) struct Capped {
    pub(super) deliveries: u32,
    /// Jobs that were still due at the end.
    pub(super) left: i64,
    /// Of the other team, from when a submission was due to its webhook.
    pub(super) others: Percentiles,
    pub(super) shift: Shift,
}

impl Capped {
    /// Whether no worker was started for what more workers cannot help.
    pub(super) fn holds(&self) -> bool {
        self.shift.most_workers == 1 && self.left > 0 && self.shift.deaths.is_empty()
    }
}

pub(super) async fn play(options: &Options, seed: u64) -> anyhow::Result<Capped> {
    let provider = slow_provider(options).await?;
    let shape = Shape {
        apis: 1,
        workers: 1,
        tenants: Tenants {
            sites: 2,
            sites_per_team: 1,
        },
        lease_seconds: 30,
        manners: Manners::default(),
    };
    let surroundings = surroundings(options, &provider);
    let mut stack = Stack::start_in(surroundings, &options.common, shape, seed).await?;
    stack.receiver.slow_down([(SLOW, ANSWERS_AFTER)]);
    let mut conn = stack.environment.cluster.connect().await?;
    let ending = format!("/{SLOW}");
    let backlog = Backlog::of(&mut conn, &ending).await?;
    backlog
        .fill(&mut conn, options.capped_deliveries, PAGE)
        .await?;
    let texts = Texts::new(seed);
    let finished = Cell::new(false);
    let load = Ticks::start(options.low, ticks(options.low, options.capped_seconds));
    let began = Instant::now();
    let sent = {
        let address = stack.apis[0].address;
        let site = stack.sites[WELL].clone();
        let submitting = async {
            let sent = submit(address, &site, &load, |number| texts.plain(number, 50)).await;
            finished.set(true);
            sent
        };
        let scaling = scale(
            &mut stack,
            options.policy(),
            options.clock(),
            began,
            &finished,
        );
        tokio::try_join!(submitting, scaling)?
    };
    let (sent, shift) = sent;
    let others = latencies(&stack, &sent).await?.percentiles();
    let left = "select count(*) from queue.jobs where queue = 'webhooks' and state = 0";
    let left = sqlx::query_scalar(left).fetch_one(&mut conn).await?;
    Ok(Capped {
        deliveries: options.capped_deliveries,
        left,
        others,
        shift,
    })
}
