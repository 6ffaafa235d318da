//! How many processors each process kept busy during a minute. Latencies rise when all processors are busy.

use std::{
    fmt,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::hostile::Hostile;
use crate::{
    procfs::{family_time, processor_time},
    stack::Stack,
};

/// The average number of busy processors.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct CpuUsage {
    pub(super) api: f64,
    pub(super) worker: f64,
    pub(super) postgres: f64,
    pub(super) hostile: f64,
    /// The benchmark's own process: the well-behaved team and its receiver.
    pub(super) own: f64,
}

impl fmt::Display for CpuUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "API {:.2}, worker {:.2}, Postgres {:.2}, hostile team {:.2}, well-behaved team {:.2}",
            self.api, self.worker, self.postgres, self.hostile, self.own
        )
    }
}

/// The processes at the beginning of a minute.
pub(super) struct Clock {
    began: Instant,
    /// In the order of [`CpuUsage`].
    used: [Option<Used>; 5],
}

/// A process, how its time is read, and the seconds that it had used.
type Used = (u32, Read, f64);
type Read = fn(u32) -> anyhow::Result<Duration>;

impl Clock {
    pub(super) fn start(stack: &Stack, hostile: Option<&Hostile>) -> Self {
        let processes: [(Option<u32>, Read); 5] = [
            (stack.apis[0].pid(), processor_time),
            (stack.workers[0].pid(), processor_time),
            (stack.environment.cluster.pid(), family_time),
            (hostile.and_then(Hostile::pid), processor_time),
            (Some(std::process::id()), processor_time),
        ];
        Self {
            began: Instant::now(),
            used: processes.map(|(pid, read)| {
                let pid = pid?;
                Some((pid, read, read(pid).ok()?.as_secs_f64()))
            }),
        }
    }

    /// The processors that they kept busy since the start. A process that has ended counts as idle.
    pub(super) fn read(&self) -> CpuUsage {
        let lasted = self.began.elapsed().as_secs_f64();
        let [api, worker, postgres, hostile, own] = self.used.map(|process| {
            let used = process.and_then(|(pid, read, before)| {
                let now = read(pid).ok()?.as_secs_f64();
                Some(now - before)
            });
            used.unwrap_or(0.0).max(0.0) / lasted
        });
        CpuUsage {
            api,
            worker,
            postgres,
            hostile,
            own,
        }
    }
}
