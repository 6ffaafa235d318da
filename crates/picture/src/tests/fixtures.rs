//! Files of other programs. All show the same four quarters.

use std::fs;

pub(super) const FIXTURES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/images");
pub(super) const RED: [u8; 3] = [255, 0, 0];
pub(super) const GREEN: [u8; 3] = [0, 160, 0];
pub(super) const BLUE: [u8; 3] = [0, 0, 255];
pub(super) const YELLOW: [u8; 3] = [240, 240, 0];

pub(super) fn fixture(name: &str) -> Vec<u8> {
    fs::read(format!("{FIXTURES}/{name}")).unwrap()
}

pub(super) fn fixtures() -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(FIXTURES).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pictures: Vec<_> = names
        .filter(|name| {
            ["jpg", "png", "gif", "webp"]
                .iter()
                .any(|e| name.ends_with(e))
        })
        .map(|name| (name.clone(), fixture(&name)))
        .collect();
    assert!(pictures.len() >= 20);
    pictures
}
