//! How many files and sockets this process can have open, and how they are divided.
//!
//! Every connection takes a file descriptor: those of clients, those to webhook receivers and image servers, those to
//! Postgres and to providers. If one kind took them all, nothing else would work. So the system's limit is divided among
//! them when the process starts, and each kind has its own bound.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::warn;
use workers::outbound::Bounds;

/// Standard streams, listeners, event queues, log files, and files that are open for a moment.
const SPARE: usize = 64;
/// What a DNS lookup has open at a time: a socket, and a file of the system.
const EACH_LOOKUP: usize = 2;
/// The fewest descriptors that are left to divide.
const FEWEST: usize = 64;

/// How many descriptors a process would like to use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Connections of clients.
    pub(crate) clients: usize,
    /// Connections of browsers to the console.
    pub(crate) browsers: usize,
    /// On behalf of tenants.
    pub(crate) outbound: Bounds,
    /// Its own connections: to Postgres, to providers, and from readers of its metrics.
    pub(crate) own: usize,
}

/// How many descriptors it can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    /// Connections of clients.
    pub(crate) clients: usize,
    /// Connections of browsers to the console.
    pub(crate) browsers: usize,
    /// On behalf of tenants.
    pub(crate) outbound: Bounds,
}

/// Raises the process's limit of open files as far as possible, and divides it.
///
/// # Errors
/// The limit is too low for the process to work.
pub(crate) fn divide(wanted: Wanted) -> anyhow::Result<Division> {
    let Some(files) = allow_files() else {
        return Ok(Division {
            clients: wanted.clients,
            browsers: wanted.browsers,
            outbound: wanted.outbound,
        });
    };
    let division = division(files, wanted)?;
    if (division.clients, division.browsers, division.outbound)
        != (wanted.clients, wanted.browsers, wanted.outbound)
    {
        warn!(
            files,
            ?wanted,
            possible = ?division,
            "too few file descriptors for all connections: raise the limit (ulimit -n)"
        );
    }
    Ok(division)
}

/// All parts together, including its own, are at most `files`.
fn division(files: usize, wanted: Wanted) -> anyhow::Result<Division> {
    let Wanted {
        clients,
        browsers,
        outbound,
        own,
    } = wanted;
    let lookups = outbound.lookups.min((files / 32).max(2));
    // One client and one browser are accepted before they wait for a free place.
    let waiting = usize::from(clients > 0) + usize::from(browsers > 0);
    let fixed = SPARE + own + EACH_LOOKUP * lookups + waiting;
    let rest = files.saturating_sub(fixed);
    anyhow::ensure!(
        rest >= FEWEST,
        "the limit of open files is {files}, but this process needs at least {}: raise the limit (ulimit -n), or lower \
         --concurrency and --database-connections",
        fixed + FEWEST
    );
    let (quarter, eighth) = if clients == 0 {
        (rest / 2, rest / 4)
    } else {
        (rest / 4, rest / 8)
    };
    let outbound = Bounds {
        connections: outbound.connections.min(quarter),
        idle: outbound.idle.min(eighth),
        lookups,
    };
    let left = rest - outbound.connections - outbound.idle;
    let browsers = browsers.min(left / 8);
    Ok(Division {
        clients: clients.min(left - browsers),
        browsers,
        outbound,
    })
}

/// Raises this process's limit of open files as far as possible, and returns it. `None`: there is
/// no limit. Many systems start processes with 1,024, because programs that use `select` cannot
/// handle more.
fn allow_files() -> Option<usize> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    let files = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    };
    files.map(|files| usize::try_from(files).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Wanted = Wanted {
        clients: 10_000,
        browsers: 256,
        outbound: Bounds {
            connections: 640,
            idle: 512,
            lookups: 32,
        },
        own: 220,
    };

    #[test]
    fn case_39_all_parts_together_stay_below_the_limit() {
        for clients in [0, 10, 10_000] {
            for files in 0..20_000 {
                let wanted = Wanted { clients, ..WANTED };
                let Ok(division) = division(files, wanted) else {
                    assert!(files < 1_024, "{files}");
                    continue;
                };
                let Division {
                    clients,
                    browsers,
                    outbound,
                } = division;
                let lookups = EACH_LOOKUP * outbound.lookups;
                let all = clients + browsers + outbound.connections + outbound.idle + lookups;
                assert!(all + WANTED.own + SPARE < files + usize::from(clients == 0));
                assert!(outbound.connections >= FEWEST / 4 && outbound.lookups >= 2);
                assert!(clients >= FEWEST / 2 || clients == wanted.clients);
            }
        }
    }

    #[test]
    fn a_high_limit_gives_what_is_wanted_and_a_low_one_says_what_to_do() {
        let all = division(1 << 20, WANTED).unwrap();
        assert_eq!(
            (all.clients, all.outbound),
            (WANTED.clients, WANTED.outbound)
        );
        let refused = division(256, WANTED).unwrap_err().to_string();
        assert!(refused.contains("needs at least 366"), "{refused}");
    }
}
