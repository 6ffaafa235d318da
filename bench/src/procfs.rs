//! What the system knows about a process: its memory, threads and open files.

use std::{fs, time::Duration};

use anyhow::{Context as _, bail};
use rustix::param::clock_ticks_per_second;

/// What a process uses at this moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Resident memory in mebibytes.
    pub(crate) resident_mib: f64,
    /// The most that was resident since the process began.
    pub(crate) peak_mib: f64,
    pub(crate) threads: u64,
}

impl Usage {
    /// # Errors
    /// There is no such process, or it has ended and was not yet waited for.
    pub(crate) fn read(pid: u32) -> anyhow::Result<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/status"))?)
    }

    fn parse(status: &str) -> anyhow::Result<Self> {
        let mib = |name| Ok::<_, anyhow::Error>(f64::from(number(status, name)?) / 1_024.0);
        Ok(Self {
            resident_mib: mib("VmRSS")?,
            peak_mib: mib("VmHWM")?,
            threads: number(status, "Threads")?.into(),
        })
    }
}

/// How many files, sockets included, a process has open.
pub(crate) fn open_files(pid: u32) -> anyhow::Result<u64> {
    Ok(fs::read_dir(format!("/proc/{pid}/fd"))?.count() as u64)
}

/// How much processor time a process has used.
///
/// # Errors
/// There is no such process.
pub(crate) fn processor_time(pid: u32) -> anyhow::Result<Duration> {
    let (own, _) = ticks(&fs::read_to_string(format!("/proc/{pid}/stat"))?)?;
    duration(own)
}

/// How much a process has used together with its children: those that have ended, and those that run.
///
/// # Errors
/// There is no such process.
pub(crate) fn family_time(pid: u32) -> anyhow::Result<Duration> {
    let (own, ended) = ticks(&fs::read_to_string(format!("/proc/{pid}/stat"))?)?;
    let running = children(pid)?.into_iter().map(|child| {
        // It may have ended meanwhile.
        let stat = fs::read_to_string(format!("/proc/{child}/stat"));
        stat.map_or(0, |stat| ticks(&stat).map_or(0, |(own, _)| own))
    });
    duration(own + ended + running.sum::<u64>())
}

/// The processes that a process started with its first thread and that still run.
///
/// # Errors
/// There is no such process.
pub(crate) fn children(pid: u32) -> anyhow::Result<Vec<i32>> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
    let numbers = children.split_whitespace().map(str::parse);
    Ok(numbers.collect::<Result<_, _>>()?)
}

fn duration(ticks: u64) -> anyhow::Result<Duration> {
    Ok(Duration::from_secs(ticks) / u32::try_from(clock_ticks_per_second())?)
}

/// Reads a line of `stat`: the process's own time, and that of children that were waited for.
fn ticks(stat: &str) -> anyhow::Result<(u64, u64)> {
    // The name in parentheses may contain anything.
    let (_, fields) = stat.rsplit_once(')').context("no process's stat")?;
    let times = fields.split_whitespace().skip(11).take(4);
    let times: Vec<u64> = times.map(str::parse).collect::<Result<_, _>>()?;
    let [user, system, child_user, child_system] = times[..] else {
        bail!("a process's stat is cut off");
    };
    Ok((user + system, child_user + child_system))
}

/// Reads a line such as `VmRSS:     1234 kB`.
fn number(status: &str, name: &str) -> anyhow::Result<u32> {
    let value = status.lines().find_map(|line| {
        let (own, value) = line.split_once(':')?;
        (own == name).then_some(value)
    });
    let value = value.with_context(|| format!("the process tells no {name}"))?;
    let digits = value.trim().trim_end_matches(" kB");
    digits
        .parse()
        .with_context(|| format!("{name} is {digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_mebibytes() {
        let status = "Name:\tgatehouse\nVmHWM:\t   40960 kB\nVmRSS:\t   20480 kB\nThreads:\t4\n";
        let usage = Usage::parse(status).unwrap();
        assert!((usage.resident_mib - 20.0).abs() < 1e-9);
        assert!((usage.peak_mib - 40.0).abs() < 1e-9);
        assert_eq!(usage.threads, 4);
    }

    #[test]
    fn a_process_that_has_ended_has_no_memory() {
        assert!(Usage::parse("Name:\tgatehouse\nState:\tZ (zombie)\n").is_err());
    }

    #[test]
    fn processor_time_is_read_apart_from_that_of_children() {
        let stat = "7 (a) b) S 1 7 7 0 -1 0 9 9 9 9 100 20 3 4 20 0 1 0 5";
        assert_eq!(ticks(stat).unwrap(), (120, 7));
        let own = std::process::id();
        assert!(processor_time(own).unwrap() <= family_time(own).unwrap());
    }

    #[test]
    fn this_process_has_open_files() {
        assert!(open_files(std::process::id()).unwrap() > 0);
    }
}
