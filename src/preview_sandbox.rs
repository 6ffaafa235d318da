//! A process of its own that decodes one image of a stranger and ends: `gatehouse darkroom`.
//!
//! The process that asks never decodes. It gives the file to the other one's standard input and reads the preview from its
//! standard output. The other one has no environment, no database, no files and no sockets, and dies with its parent.

use std::{
    future::pending,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use domain::{decision::ImageProblem, image::MAX_IMAGE_BYTES};
use management::{MakePreview, PreviewError};
use picture::{
    Rendition,
    preview::{MAX_BYTES, NoPreview, preview},
};
use rustix::{
    process::{
        Resource, Rlimit, Signal, getrlimit, nice, set_parent_process_death_signal, setrlimit,
    },
    thread::set_no_new_privs,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, Command},
    time::timeout,
};
use tracing::warn;

/// The command's work: reads a file, writes a [`message`], and ends. It decodes with at most `memory` bytes.
///
/// # Errors
/// The process could not be confined, or a stream broke.
pub(crate) fn run(memory: usize) -> anyhow::Result<()> {
    confine(memory)?;
    let mut file = Vec::new();
    let most = u64::try_from(MAX_IMAGE_BYTES)?;
    std::io::stdin().lock().take(most).read_to_end(&mut file)?;
    let mut out = std::io::stdout().lock();
    out.write_all(&message(preview(&file, memory)))?;
    out.flush()?;
    Ok(())
}

const PREVIEW: u8 = b'P';
const PROBLEM: u8 = b'E';
const NEEDS_MEMORY: u8 = b'M';

/// What the process says: one byte, and then the preview, a JPEG, or the name of a problem.
fn message(made: Result<Rendition, NoPreview>) -> Vec<u8> {
    match made {
        Ok(preview) => [&[PREVIEW], &preview.bytes[..]].concat(),
        Err(NoPreview::Problem(problem)) => [&[PROBLEM], problem.as_str().as_bytes()].concat(),
        Err(NoPreview::NeedsMemory) => vec![NEEDS_MEMORY],
    }
}

/// What was read from the process. `None` if it is no message: a process that was broken into says what it likes.
fn read_message(mut bytes: Vec<u8>) -> Option<Result<Vec<u8>, PreviewError>> {
    match *bytes.first()? {
        PREVIEW if bytes[1..].starts_with(JPEG) => Some(Ok(bytes.split_off(1))),
        PROBLEM => {
            let problem = str::from_utf8(&bytes[1..]).ok()?.parse().ok()?;
            Some(Err(PreviewError::Problem(problem)))
        }
        NEEDS_MEMORY if bytes.len() == 1 => Some(Err(PreviewError::NeedsMemory)),
        _ => None,
    }
}

/// The first bytes of every JPEG.
const JPEG: &[u8] = &[0xff, 0xd8, 0xff];

/// Memory besides that for decoding, in bytes: the program's own, the file, and the preview.
const OWN: usize = 96 << 20;
/// Seconds of processor time. The largest permitted picture takes a few.
const SECONDS: u64 = 20;
/// How much lower its priority is.
const NICE: i32 = 10;

/// From now on, the process can open no file and no socket, start no process, and have no more memory and time than a
/// picture needs. It dies with its parent.
fn confine(memory: usize) -> anyhow::Result<()> {
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

/// How long the process may take. The largest permitted picture takes less than two seconds.
const DEADLINE: Duration = Duration::from_secs(10);
/// An option of the allocator: memory counts when it is used, not when it is reserved.
const COMMIT_LATE: (&str, &str) = ("MIMALLOC_ARENA_EAGER_COMMIT", "0");
/// The exit code of a Rust program that panicked: its decoder met something that it did not expect.
const PANICKED: i32 = 101;

/// Decodes images with this program: this binary.
pub(crate) fn spawn(program: PathBuf) -> MakePreview {
    Arc::new(move |file, memory| {
        let program = program.clone();
        Box::pin(async move { one(&program, file, memory, DEADLINE).await })
    })
}

/// Decodes one image in a process of its own. It has ended when this returns.
async fn one(
    program: &Path,
    file: Vec<u8>,
    memory: usize,
    deadline: Duration,
) -> Result<Vec<u8>, PreviewError> {
    let mut child = start(program, memory).map_err(|error| {
        warn!(%error, program = %program.display(), "could not start a darkroom, so there are no previews");
        PreviewError::Unavailable
    })?;
    let ended = timeout(deadline, talk(&mut child, file)).await;
    let answer = match ended {
        Ok(answer) => answer.map_err(|error| {
            warn!(%error, "a darkroom broke");
            PreviewError::Unavailable
        }),
        Err(_) => Err(PreviewError::TimedOut),
    };
    // Its memory is in use until it has ended. Only one that still runs has an id.
    if child.id().is_some()
        && let Err(error) = child.kill().await
    {
        warn!(%error, "could not end a darkroom");
    }
    answer?
}

fn start(program: &Path, memory: usize) -> io::Result<Child> {
    Command::new(program)
        .args(["darkroom", "--memory"])
        .arg(memory.to_string())
        .env_clear()
        // Otherwise the allocator would take a gigabyte before the limit of memory holds.
        .env(COMMIT_LATE.0, COMMIT_LATE.1)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
}

/// Gives the file to the process, and reads what it says.
async fn talk(child: &mut Child, file: Vec<u8>) -> io::Result<Result<Vec<u8>, PreviewError>> {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let most = u64::try_from(MAX_BYTES)
        .unwrap_or(u64::MAX)
        .saturating_add(2);
    let mut said = Vec::new();
    let giving = async move {
        // A process that ends early says why, or its exit code does.
        let _ = input.write_all(&file).await;
        drop(input);
        pending::<()>().await;
    };
    let mut output = output.take(most);
    tokio::select! {
        read = output.read_to_end(&mut said) => read.map(drop)?,
        () = giving => {}
    }
    drop(output);
    let status = child.wait().await?;
    if status.success() {
        return read_message(said).ok_or_else(|| io::ErrorKind::InvalidData.into());
    }
    warn!(%status, "a darkroom did not come to an end with its image");
    Ok(Err(match status.code() {
        Some(PANICKED) => PreviewError::Problem(ImageProblem::Undecodable),
        Some(_) | None => PreviewError::Unavailable,
    }))
}

#[cfg(test)]
mod tests;
