//! What people call a process: where it runs, and which program it is. An id says nothing to them.

use std::fmt;

/// The longest text that is kept of each name, in characters. A host name may have 64, and the name
/// of a pod 253.
const LONGEST: usize = 253;

/// What a process says about itself. Older versions say nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// The machine, the container or the pod.
    pub host: Option<String>,
    /// Its number on that machine.
    pub pid: Option<i32>,
    /// What it does: `api`, `worker` or `up`.
    pub role: Option<String>,
    /// Where its metrics are.
    pub metrics_address: Option<String>,
    /// The version of its program.
    pub version: Option<String>,
    /// The most connections to Postgres that it opens.
    pub connections: Option<i32>,
}

impl Process {
    /// The same with names that can be shown anywhere: of bounded length, and in characters that
    /// are printed as they are.
    #[must_use]
    pub fn bounded(self) -> Self {
        let bounded = |name: Option<String>| name.map(|name| bounded(&name));
        Self {
            host: bounded(self.host),
            pid: self.pid,
            role: bounded(self.role),
            metrics_address: bounded(self.metrics_address),
            version: bounded(self.version),
            connections: self.connections,
        }
    }
}

fn bounded(name: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_graphic() || (c.is_alphanumeric() && !c.is_ascii());
    name.chars().filter(is_plain).take(LONGEST).collect()
}

impl fmt::Display for Process {
    /// For people: `worker on web-1, pid 4711, metrics at 10.1.0.7:9464, version 0.1.0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            host,
            pid,
            role,
            metrics_address,
            version,
            connections: _,
        } = self;
        f.write_str(role.as_deref().unwrap_or("process"))?;
        match host {
            Some(host) => write!(f, " on {host}")?,
            None => f.write_str(" of an older version")?,
        }
        if let Some(pid) = pid {
            write!(f, ", pid {pid}")?;
        }
        if let Some(address) = metrics_address {
            write!(f, ", metrics at {address}")?;
        }
        if let Some(version) = version {
            write!(f, ", version {version}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_names_that_people_can_read() {
        let process = Process {
            host: Some("web-1".into()),
            pid: Some(4_711),
            role: Some("worker".into()),
            metrics_address: Some("10.1.0.7:9464".into()),
            version: Some("0.1.0".into()),
            connections: Some(26),
        };
        assert_eq!(
            process.to_string(),
            "worker on web-1, pid 4711, metrics at 10.1.0.7:9464, version 0.1.0"
        );
        assert_eq!(
            Process::default().to_string(),
            "process of an older version"
        );
    }

    #[test]
    fn names_are_short_and_forge_no_lines() {
        let process = Process {
            host: Some(format!("a\n\u{1b}[2J\u{202e}\"é {}", "x".repeat(1_000))),
            ..Process::default()
        };
        let host = process.bounded().host.unwrap();
        assert!(host.starts_with("a[2J\"éxxx"), "{host}");
        assert_eq!(host.chars().count(), LONGEST);
    }
}
