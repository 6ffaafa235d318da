//! What the sandbox gives up before it reads anything.

use anyhow::Context as _;
use rustix::process::{
    Resource, Rlimit, Signal, getrlimit, nice, set_parent_process_death_signal, setrlimit,
};
use rustix::thread::set_no_new_privs;

/// Memory besides that for decoding, in bytes: the program's own, the file, and the preview.
const OWN: usize = 96 << 20;
/// Seconds of processor time. The largest permitted picture takes a few.
const SECONDS: u64 = 20;
/// How much lower its priority is.
const NICE: i32 = 10;

/// From now on, the process can open no file and no socket, start no process, and have no more memory and time than a
/// picture needs. It dies with its parent.
pub(super) fn confine(memory: usize) -> anyhow::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    set_no_new_privs(true)?;
    nice(NICE)?;
    let memory = u64::try_from(memory.saturating_add(OWN))?;
    for (resource, most) in [
        (Resource::Core, 0),
        (Resource::Cpu, SECONDS),
        (Resource::Data, memory),
        (Resource::Fsize, 0),
        (Resource::Nproc, 0),
        (Resource::Nofile, 0),
    ] {
        lower(resource, most).with_context(|| format!("cannot limit {resource:?}"))?;
    }
    Ok(())
}

/// Lowers a limit for good. One that is lower already stays.
fn lower(resource: Resource, most: u64) -> rustix::io::Result<()> {
    let present = getrlimit(resource);
    let lowered = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
    setrlimit(
        resource,
        Rlimit {
            current: lowered(present.current),
            maximum: lowered(present.maximum),
        },
    )
}
