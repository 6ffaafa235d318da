//! Previews: what comes out of the darkroom's process, and what that process can do.

use std::{
    fs,
    io::Write as _,
    process::{Child, Command, Output, Stdio},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use image::GenericImageView as _;
use serde_json::json;

use super::{
    TOO_LARGE, UNDECODABLE, UNSUPPORTED,
    files::{cases, greedy, png_of},
    start,
};
use crate::support::{Act, DataDir, ScriptedServer, eventually, picture};

/// As much as is ever given, in bytes.
const ENOUGH: usize = 256 << 20;
const MAX_SIDE: u32 = 640;

fn darkroom(memory: usize) -> Child {
    Command::new(env!("CARGO_BIN_EXE_gatehouse"))
        .args(["darkroom", "--memory", &memory.to_string()])
        .env_clear()
        // As the interface starts it.
        .env("MIMALLOC_ARENA_EAGER_COMMIT", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What the process says of a file.
fn developed(file: &[u8], memory: usize) -> Output {
    let mut child = darkroom(memory);
    let mut input = child.stdin.take().unwrap();
    // It may have said what it has to say before the end of the file.
    let _ = input.write_all(file);
    drop(input);
    child.wait_with_output().unwrap()
}

/// The sides of a preview.
fn sides(preview: &[u8]) -> (u32, u32) {
    assert!(preview.starts_with(b"\xff\xd8\xff"));
    image::load_from_memory(preview).unwrap().dimensions()
}

#[test]
fn hostile_files_become_a_small_jpeg_or_the_name_of_their_problem() {
    for case in cases() {
        if case.refused == Some("image_too_large") {
            continue;
        }
        let output = developed(&case.file, ENOUGH);
        let said = output.stdout;
        assert!(
            output.status.success(),
            "{}: {:?}",
            case.name,
            output.status
        );
        let problem = match case.problem {
            None => {
                assert_eq!(said[0], b'P', "{}", case.name);
                let (width, height) = sides(&said[1..]);
                assert!(width.max(height) <= MAX_SIDE, "{}", case.name);
                continue;
            }
            Some(TOO_LARGE) => "Etoo_large",
            Some(UNSUPPORTED) => "Eunsupported",
            Some(UNDECODABLE) => "Eundecodable",
            Some(other) => panic!("{other}"),
        };
        assert_eq!(String::from_utf8_lossy(&said), problem, "{}", case.name);
    }
}

#[test]
fn a_picture_is_decoded_only_with_enough_memory_and_is_made_small() {
    // 48 MB of pixels.
    let file = greedy();
    assert_eq!(developed(&file, 1 << 20).stdout, b"M");
    let said = developed(&file, 128 << 20).stdout;
    assert_eq!(said[0], b'P');
    assert_eq!(sides(&said[1..]), (MAX_SIDE, MAX_SIDE));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_darkroom_has_nothing_but_its_streams_and_can_get_nothing_else() {
    let mut child = darkroom(1 << 20);
    let process = format!("/proc/{}", child.id());
    let limits = eventually("the process is confined", super::PATIENCE, async || {
        let limits = fs::read_to_string(format!("{process}/limits")).unwrap();
        let is_confined = limit(&limits, "Max open files") == "0";
        is_confined.then_some(limits)
    })
    .await;
    assert_eq!(limit(&limits, "Max processes"), "0");
    assert_eq!(limit(&limits, "Max file size"), "0");
    assert_eq!(limit(&limits, "Max core file size"), "0");
    assert_eq!(
        limit(&limits, "Max data size"),
        ((96 + 1) << 20).to_string()
    );
    assert_eq!(limit(&limits, "Max cpu time"), "20");
    let status = fs::read_to_string(format!("{process}/status")).unwrap();
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    assert!(status.contains("Threads:\t1\n"), "{status}");
    // What counts for the limit of memory is below it, so the limit holds.
    let data = status.lines().find(|line| line.starts_with("VmData"));
    let data = data.unwrap().split_whitespace().nth(1).unwrap();
    assert!(data.parse::<u64>().unwrap() < 48 << 10, "{data} KiB");
    let files: Vec<_> = fs::read_dir(format!("{process}/fd"))
        .unwrap()
        .map(|file| fs::read_link(file.unwrap().path()).unwrap())
        .collect();
    // Beyond its streams, it has what the test's own process was started with, and no file or socket of it.
    let are_harmless = files.iter().all(|file| {
        let name = file.to_string_lossy();
        name.starts_with("pipe:") || name == "/dev/null"
    });
    assert!(are_harmless && files.len() >= 3, "{files:?}");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The hard limit of this name: what the process cannot raise again.
fn limit<'a>(limits: &'a str, name: &str) -> &'a str {
    let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
    line[name.len()..].split_whitespace().nth(1).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn moderators_see_stored_images_small_upright_and_without_metadata() {
    let served = picture("animated.gif");
    let gallery = ScriptedServer::start(move |path, _| match path {
        "/a.gif" => Act::file("image/gif", served.clone()),
        _ => Act::head("404 Not Found"),
    })
    .await;
    let data = DataDir::new();
    let up = start(&data, &gallery).await;
    let rotated = picture("rotated.jpg");
    let inline = json!({ "content_base64": BASE64_STANDARD.encode(&rotated) });
    let inline = up.submit(inline).await;
    let path = format!("/media/{inline}/preview");
    let (headers, preview) = up.download(&path).await;
    // Stored as 48 by 64 pixels, and shown as Exif asks for.
    assert_eq!(sides(&preview), (64, 48));
    let is_exif = |file: &[u8]| file.windows(4).any(|bytes| bytes == b"Exif");
    assert!(is_exif(&rotated) && !is_exif(&preview));
    assert_eq!(headers["content-type"], "image/jpeg");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert_eq!(headers["cache-control"], "no-store");
    let disposition = headers["content-disposition"].to_str().unwrap();
    assert!(disposition.starts_with("attachment; "), "{disposition}");

    let fetched = json!({ "content_url": gallery.url("/a.gif") });
    let fetched = up.submit(fetched).await;
    up.verdict(&fetched).await;
    let (_, preview) = up.download(&format!("/media/{fetched}/preview")).await;
    sides(&preview);

    let text = up.submit(json!({ "body": "a fine day" })).await;
    let missing = up
        .submit(json!({ "content_url": gallery.url("/none") }))
        .await;
    up.verdict(&missing).await;
    for (media, why) in [(&text, "has no image"), (&missing, "could not be fetched")] {
        let (code, problem) = up.look(&format!("/media/{media}/preview")).await;
        assert_eq!((code, &problem["code"]), (404, &json!("not_found")));
        assert!(
            problem["detail"].as_str().unwrap().contains(why),
            "{problem}"
        );
    }
    let mut half = picture("baseline.jpg");
    half.truncate(half.len() / 2);
    for file in [png_of(50_000, 50_000), half] {
        let media = json!({ "content_base64": BASE64_STANDARD.encode(&file) });
        let media = up.submit(media).await;
        let (code, problem) = up.look(&format!("/media/{media}/preview")).await;
        assert_eq!(
            (code, &problem["code"]),
            (409, &json!("image_not_previewed"))
        );
        up.verdict(&media).await;
    }
    for media in [inline, text] {
        up.verdict(&media).await;
    }
}
