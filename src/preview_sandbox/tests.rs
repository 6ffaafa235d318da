//! Darkrooms that are not there, that hang, that say too much, and that break.

use std::{fs, os::unix::fs::PermissionsExt as _, time::Instant};

use domain::image::ImageFormat;
use tempfile::TempDir;

use super::*;

const SOON: Duration = Duration::from_millis(500);
/// On a busy machine, a process may begin late.
const LONG: Duration = Duration::from_mins(3);

/// A program that does this in place of the sandbox.
fn script(directory: &TempDir, body: &str) -> PathBuf {
    let path = directory.path().join("program");
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

async fn with(body: &str, deadline: Duration) -> Result<Vec<u8>, PreviewError> {
    let directory = TempDir::new().unwrap();
    let program = script(&directory, body);
    one(&program, vec![0; 1 << 20], 1 << 20, deadline).await
}

#[tokio::test]
async fn a_darkroom_that_is_not_there_is_unavailable() {
    let nowhere = Path::new("/nonexistent/gatehouse");
    let answer = one(nowhere, Vec::new(), 1, DEADLINE).await;
    assert_eq!(answer, Err(PreviewError::Unavailable));
}

#[tokio::test]
async fn a_darkroom_that_hangs_or_never_reads_is_ended_at_the_deadline() {
    for (body, deadline, expected) in [
        ("exec sleep 600", SOON, PreviewError::TimedOut),
        (
            "cat > /dev/null; exec sleep 600",
            SOON,
            PreviewError::TimedOut,
        ),
        // It says more than a preview can be long.
        ("exec yes", LONG, PreviewError::Unavailable),
    ] {
        let began = Instant::now();
        let answer = with(body, deadline).await;
        assert_eq!(answer, Err(expected), "{body}");
        assert!(began.elapsed() < Duration::from_mins(5), "{body}");
    }
}

#[tokio::test]
async fn what_a_darkroom_says_counts_only_if_it_ends_well_and_it_is_a_preview() {
    let jpeg = r"cat > /dev/null; printf 'P\377\330\377rest'";
    let preview = [&[0xff, 0xd8, 0xff][..], b"rest"].concat();
    assert_eq!(with(jpeg, LONG).await, Ok(preview));
    let undecodable = PreviewError::Problem(ImageProblem::Undecodable);
    for (body, expected) in [
        (format!("{jpeg}; exit 1"), PreviewError::Unavailable),
        (format!("{jpeg}; exit 101"), undecodable),
        (format!("{jpeg}; kill -9 $$"), PreviewError::Unavailable),
        (
            "cat > /dev/null; printf 'P<html>'".to_owned(),
            PreviewError::Unavailable,
        ),
        ("exit 0".to_owned(), PreviewError::Unavailable),
        ("printf M".to_owned(), PreviewError::NeedsMemory),
        (
            "printf Etoo_large".to_owned(),
            PreviewError::Problem(ImageProblem::TooLarge),
        ),
    ] {
        assert_eq!(with(&body, LONG).await, Err(expected), "{body}");
    }
}

#[tokio::test]
async fn a_darkroom_gets_nothing_of_the_environment() {
    let body = "cat > /dev/null; [ -z \"$HOME$CARGO$DATABASE_URL\" ] && printf M";
    let answer = with(body, LONG).await;
    assert_eq!(answer, Err(PreviewError::NeedsMemory));
}

#[test]
fn a_message_is_read_as_it_was_written_and_anything_else_is_none() {
    let preview = [JPEG, b"..."].concat();
    let rendition = Rendition {
        format: ImageFormat::Jpeg,
        bytes: preview.clone().into(),
    };
    let problem = ImageProblem::TooLarge;
    for (made, read) in [
        (Ok(rendition), Ok(preview)),
        (
            Err(NoPreview::Problem(problem)),
            Err(PreviewError::Problem(problem)),
        ),
        (Err(NoPreview::NeedsMemory), Err(PreviewError::NeedsMemory)),
    ] {
        assert_eq!(read_message(message(made)), Some(read));
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
        assert_eq!(read_message(bytes.into()), None, "{bytes}");
    }
}
