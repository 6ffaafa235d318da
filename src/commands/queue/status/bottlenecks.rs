//! What holds the jobs of each queue back now, which setting to change, and what that costs. The
//! live workers say it with their heartbeats.

use std::{collections::BTreeMap, fmt::Write as _};

use management::queues::QueueState;
use queue::{Bottleneck, workers::Worker};
use serde_json::{Value, json};
use store::jobs;

use crate::commands::table::counted;

/// What holds jobs back for a smaller share of the time is not worth a change.
const LEAST: f64 = 0.05;

/// What holds a queue back for most of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Binding {
    by: Bottleneck,
    /// The share of the last seconds, as the average of the processes that say so.
    share: f64,
    processes: u32,
}

/// What holds a queue back, by what its workers say.
pub(super) fn binding(queue: &str, workers: &[Worker]) -> Option<Binding> {
    let mut found: BTreeMap<Bottleneck, (f64, u32)> = BTreeMap::new();
    let reports = workers.iter().filter_map(|worker| worker.bounds.as_ref());
    for told in reports.flatten().filter(|told| told.queue == queue) {
        let (share, processes) = found.entry(told.by).or_default();
        *share += told.share;
        *processes += 1;
    }
    let most = found
        .into_iter()
        .max_by(|(_, (one, _)), (_, (other, _))| one.total_cmp(other));
    let (by, (share, processes)) = most?;
    let share = share / f64::from(processes);
    (share >= LEAST).then_some(Binding {
        by,
        share,
        processes,
    })
}

/// A line for each queue that is held back, or has jobs that could run.
pub(super) fn bound_lines(queues: &[QueueState], workers: &[Worker]) -> String {
    let mut lines = String::new();
    // Workers of older versions do not say it.
    if workers.iter().all(|worker| worker.bounds.is_none()) {
        return lines;
    }
    for QueueState { stats, .. } in queues {
        let queue = stats.queue.as_str();
        match binding(queue, workers) {
            Some(binding) => {
                let Binding {
                    by,
                    share,
                    processes,
                } = binding;
                let _ = writeln!(
                    lines,
                    "{queue}: {}, {:.0} % of the last seconds in {}. {}",
                    by.as_str(),
                    share * 100.0,
                    counted(processes, "process", "processes"),
                    advice(queue, by)
                );
            }
            None if stats.runnable > 0 => {
                let _ = writeln!(
                    lines,
                    "{queue}: nothing. If the same jobs stay due, no worker works on this queue (--queues), or processors are busy."
                );
            }
            None => {}
        }
    }
    if lines.is_empty() {
        lines
    } else {
        format!("\nWhat holds jobs back:\n{lines}")
    }
}

/// The same for programs. `null` if nothing holds the queue back.
pub(super) fn bound_document(binding: Option<Binding>) -> Value {
    binding.map_or(Value::Null, |binding| {
        json!({
            "by": binding.by.as_str(),
            "share": binding.share,
            "processes": binding.processes,
        })
    })
}

/// What it means, what to change, and what that costs.
fn advice(queue: &str, by: Bottleneck) -> &'static str {
    let is = |name: queue::QueueName| name.as_str() == queue;
    let has_slots = [
        jobs::IMAGES,
        jobs::ANALYSIS,
        jobs::RULES,
        jobs::WEBHOOKS,
        jobs::REVIEWS,
        jobs::REMOVALS,
    ];
    match by {
        Bottleneck::Slots if !has_slots.into_iter().any(is) => {
            "A process runs one job of this queue at a time. Start another worker, which needs more connections to Postgres."
        }
        Bottleneck::Slots if is(jobs::ANALYSIS) => {
            "All slots are taken. Raise --concurrency, and `concurrency` of the provider to as much, or start another worker. This sends more requests to the provider at once; a worker also needs more connections to Postgres."
        }
        Bottleneck::TeamShare if is(jobs::ANALYSIS) => {
            "A team has all slots that it may have: half of them if it is alone. Raise --concurrency, and `concurrency` of the provider to at least half of it, or start another worker. This sends more requests to the provider at once; a worker also needs more connections to Postgres."
        }
        Bottleneck::Slots | Bottleneck::TeamShare if is(jobs::WEBHOOKS) => {
            "All places are taken, or a team has all that it may have: half of them if it is alone. Raise --concurrency (and --outbound-connections, if you set it), or start another worker. This needs more file descriptors and memory; a worker also needs more connections to Postgres."
        }
        Bottleneck::Slots => {
            "All slots are taken. If processors are free, raise --concurrency, or start another worker. This needs more memory; a worker also needs more connections to Postgres."
        }
        Bottleneck::TeamShare => {
            "A team has all slots that it may have: half of them if it is alone. If processors are free, raise --concurrency, or start another worker. This needs more memory; a worker also needs more connections to Postgres."
        }
        Bottleneck::Cap => {
            "A team or an endpoint has as many jobs at once as its cap allows, over all workers. Raise the cap with `gatehouse queue cap`. Its servers then get more requests at once; others are not delayed."
        }
        Bottleneck::ProviderLimit => {
            "If it is paused (gatehouse_provider_paused), it failed or met its own limit: the runbook of GatehouseProviderPaused says what to do. Otherwise it gets as many requests at once as its `concurrency` allows. Raise `concurrency` in the file of providers, up to half of --concurrency, or start another worker. The provider gets more requests at once, and may limit them."
        }
        Bottleneck::EndpointPace => {
            "An endpoint gets as many requests a second as its owner allows. Its owner can raise `max_per_second`. Its server then gets more requests; others are not delayed."
        }
        Bottleneck::Database => {
            "Postgres is slow or away, or all connections of a process are in use. More workers make a slow Postgres slower. If Postgres is idle, raise --database-connections: each takes 5 to 10 MB of its memory."
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::Utc;
    use queue::BottleneckShare;
    use uuid::Uuid;

    use super::*;

    fn worker(bounds: Option<&[(&str, Bottleneck, f64)]>) -> Worker {
        let share = |&(queue, by, share): &(&str, Bottleneck, f64)| BottleneckShare {
            queue: queue.to_owned(),
            by,
            share,
        };
        Worker {
            id: Uuid::nil(),
            process: queue::Process::default(),
            started_at: Utc::now(),
            lease_left_seconds: 20.0,
            running: 0,
            bounds: bounds.map(|bounds| bounds.iter().map(share).collect()),
        }
    }

    #[test]
    fn what_holds_back_for_most_of_the_time_is_named() {
        let workers = [
            worker(Some(&[
                ("analysis", Bottleneck::TeamShare, 0.5),
                ("analysis", Bottleneck::ProviderLimit, 0.25),
                ("rules", Bottleneck::Slots, 0.01),
            ])),
            worker(Some(&[("analysis", Bottleneck::ProviderLimit, 0.75)])),
            worker(None),
        ];
        let expected = Binding {
            by: Bottleneck::ProviderLimit,
            share: 0.5,
            processes: 2,
        };
        assert_eq!(binding("analysis", &workers), Some(expected));
        assert_eq!(binding("rules", &workers), None, "hardly ever");
        assert_eq!(binding("images", &workers), None);
    }

    #[test]
    fn nothing_is_said_if_no_worker_says_anything() {
        assert_eq!(bound_lines(&[], &[worker(None)]), "");
        assert_eq!(bound_lines(&[], &[]), "");
    }

    #[test]
    fn each_bound_has_a_setting_to_change() {
        for queue in jobs::ALL {
            for by in Bottleneck::ALL {
                let advice = advice(queue.as_str(), by);
                assert!(
                    ["aise ", "tart another worker"]
                        .iter()
                        .any(|what| advice.contains(what)),
                    "{queue} {by:?}"
                );
            }
        }
    }
}
