//! A process of its own that decodes one image of a stranger and ends: `gatehouse darkroom`.
//!
//! The process that asks never decodes. It gives the file to the other one's standard input and reads the preview from its
//! standard output. The other one has no environment, no database, no files and no sockets, and dies with its parent.

mod protocol;
mod resource_limits;
mod spawn;

pub(crate) use spawn::spawn;

use std::io::{Read as _, Write as _};

use domain::image::MAX_IMAGE_BYTES;
use workers::preview::preview;

use protocol::Message;

/// The command's work: reads a file, writes a [`Message`], and ends. It decodes with at most `memory` bytes.
///
/// # Errors
/// The process could not be confined, or a stream broke.
pub(crate) fn run(memory: usize) -> anyhow::Result<()> {
    resource_limits::confine(memory)?;
    let mut file = Vec::new();
    let most = u64::try_from(MAX_IMAGE_BYTES)?;
    std::io::stdin().lock().take(most).read_to_end(&mut file)?;
    let message = Message::from(preview(&file, memory));
    let mut out = std::io::stdout().lock();
    out.write_all(&message.bytes())?;
    out.flush()?;
    Ok(())
}
