//! Starts the sandbox's process for one image, and waits for its end.

use std::{
    future::pending,
    io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use domain::decision::ImageProblem;
use management::{MakePreview, PreviewError};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, Command},
    time::timeout,
};
use tracing::warn;
use workers::preview::MAX_BYTES;

use super::protocol::Message;

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
        let message = Message::read(said).ok_or(io::ErrorKind::InvalidData)?;
        return Ok(message.into());
    }
    warn!(%status, "a darkroom did not come to an end with its image");
    Ok(Err(match status.code() {
        Some(PANICKED) => PreviewError::Problem(ImageProblem::Undecodable),
        Some(_) | None => PreviewError::Unavailable,
    }))
}

#[cfg(test)]
mod tests;
