//! What the sandbox's process says: one byte, and then the preview or the name of a problem.

use domain::decision::ImageProblem;
use management::PreviewError;
use workers::{picture::Rendition, preview::NoPreview};

/// What it says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// The preview, a JPEG.
    Preview(Vec<u8>),
    /// There is none, for this reason.
    Problem(ImageProblem),
    /// It needs more memory.
    NeedsMemory,
}

const PREVIEW: u8 = b'P';
const PROBLEM: u8 = b'E';
const NEEDS_MEMORY: u8 = b'M';

impl From<Result<Rendition, NoPreview>> for Message {
    fn from(developed: Result<Rendition, NoPreview>) -> Self {
        match developed {
            Ok(preview) => Self::Preview(preview.bytes.into()),
            Err(NoPreview::Problem(problem)) => Self::Problem(problem),
            Err(NoPreview::NeedsMemory) => Self::NeedsMemory,
        }
    }
}

impl Message {
    pub(super) fn bytes(&self) -> Vec<u8> {
        let (kind, rest) = match self {
            Self::Preview(preview) => (PREVIEW, preview.as_slice()),
            Self::Problem(problem) => (PROBLEM, problem.as_str().as_bytes()),
            Self::NeedsMemory => (NEEDS_MEMORY, &[][..]),
        };
        [&[kind], rest].concat()
    }

    /// What was read from the process. `None` if it is no message: a process that was broken into says what it likes.
    pub(super) fn read(mut bytes: Vec<u8>) -> Option<Self> {
        match *bytes.first()? {
            PREVIEW if bytes[1..].starts_with(JPEG) => Some(Self::Preview(bytes.split_off(1))),
            PROBLEM => str::from_utf8(&bytes[1..])
                .ok()?
                .parse()
                .ok()
                .map(Self::Problem),
            NEEDS_MEMORY if bytes.len() == 1 => Some(Self::NeedsMemory),
            _ => None,
        }
    }
}

/// The first bytes of every JPEG.
const JPEG: &[u8] = &[0xff, 0xd8, 0xff];

impl From<Message> for Result<Vec<u8>, PreviewError> {
    fn from(message: Message) -> Self {
        match message {
            Message::Preview(preview) => Ok(preview),
            Message::Problem(problem) => Err(PreviewError::Problem(problem)),
            Message::NeedsMemory => Err(PreviewError::NeedsMemory),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written_and_anything_else_is_none() {
        for message in [
            Message::Preview([JPEG, b"..."].concat()),
            Message::Problem(ImageProblem::TooLarge),
            Message::NeedsMemory,
        ] {
            assert_eq!(Message::read(message.bytes()), Some(message));
        }
        for bytes in [
            "",
            "P",
            "P<svg onload=alert(1)>",
            "E",
            "Enothing",
            "M.",
            "X",
        ] {
            assert_eq!(Message::read(bytes.into()), None, "{bytes}");
        }
    }
}
