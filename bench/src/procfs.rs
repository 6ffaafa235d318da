//! What the system says of a process: its memory, threads and open files.

use std::fs;

use anyhow::Context as _;

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
    fn this_process_has_open_files() {
        assert!(open_files(std::process::id()).unwrap() > 0);
    }
}
