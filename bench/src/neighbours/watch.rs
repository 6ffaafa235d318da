//! Watches the processes during a minute: memory, open files and threads, several times a second. A
//! process that takes too much memory is killed before it affects the machine, and started again,
//! as a supervisor would do.

use std::{cell::RefCell, time::Duration};

use serde::Serialize;

use crate::{
    processes::Process,
    procfs::{self, Usage},
};

const EVERY: Duration = Duration::from_millis(200);

/// The most that a process used.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Peak {
    /// Resident memory; the system's own record (`VmHWM`), so nothing between two samples is missed.
    pub(super) resident_mib: f64,
    pub(super) open_files: u64,
    pub(super) threads: u64,
    /// How often it was killed for its memory.
    pub(super) stopped: u32,
    /// How often it ended by itself.
    pub(super) died: u32,
}

impl Peak {
    fn add(&mut self, pid: u32) -> anyhow::Result<Usage> {
        let usage = Usage::read(pid)?;
        self.resident_mib = self.resident_mib.max(usage.peak_mib);
        self.threads = self.threads.max(usage.threads);
        self.open_files = self.open_files.max(procfs::open_files(pid)?);
        Ok(usage)
    }
}

/// Watches a process until it is dropped.
pub(super) async fn watch<T>(
    process: &mut Process,
    stop_at_mib: u32,
    peak: &RefCell<Peak>,
) -> anyhow::Result<T> {
    let mut ticks = tokio::time::interval(EVERY);
    loop {
        ticks.tick().await;
        if let Some(death) = process.death() {
            eprintln!("{death}");
            peak.borrow_mut().died += 1;
            process.start().await?;
        }
        let Some(pid) = process.pid() else { continue };
        // It may end at any moment. The next check notices that.
        let usage = peak.borrow_mut().add(pid);
        if usage.is_ok_and(|usage| usage.resident_mib > f64::from(stop_at_mib)) {
            eprintln!(
                "{} holds more than {stop_at_mib} MiB and is killed",
                process.name()
            );
            peak.borrow_mut().stopped += 1;
            // It may have been faster.
            let _ = process.kill().await;
            process.start().await?;
        }
    }
}
