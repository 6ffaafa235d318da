//! A process that panics, and what it logs.

use std::process::Command;

const TEXT: &str = "ein geheimer Satz, der mit einem ü endet: ü";

/// Panics like a handler: with a literal, with a message that has values, and by cutting a text
/// inside a character.
#[test]
#[ignore = "what the other test runs"]
#[expect(clippy::panic, reason = "that is the point")]
#[expect(clippy::string_slice, reason = "that is the point")]
fn panics() {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    super::log();
    let text = std::hint::black_box(TEXT).to_owned();
    let cut = text.clone();
    let panics: [Box<dyn FnOnce() + Send>; 3] = [
        Box::new(|| panic!("a literal")),
        Box::new(move || panic!("no such text: {text}")),
        Box::new(move || drop(cut[..cut.len() - 1].to_owned())),
    ];
    for panicking in panics {
        std::thread::spawn(panicking).join().unwrap_err();
    }
}

#[test]
fn a_panic_tells_its_place_and_no_content() {
    let this = std::env::current_exe().unwrap();
    let output = Command::new(this)
        .args([
            "--exact",
            "panic_log::tests::panics",
            "--ignored",
            "--nocapture",
        ])
        .env("RUST_BACKTRACE", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8(told).unwrap();
    assert_eq!(told.matches("panicked").count(), 3, "{told}");
    assert!(
        told.contains("a literal") && told.contains("src/panic_log.rs:"),
        "{told}"
    );
    assert!(told.contains("backtrace"), "{told}");
    for part in TEXT.split(' ').filter(|part| part.len() > 4) {
        assert!(!told.contains(part), "{part} in {told}");
    }
}
