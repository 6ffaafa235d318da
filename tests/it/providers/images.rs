//! Images: which provider gets them, and what happens to a text and its image when only one of the
//! two could be checked.

mod sent;
mod unchecked;
mod waiting;

use std::time::Duration;

use image::ImageFormat;
use serde_json::Value;

use crate::support::{FakeProvider, SOON};

const HOUR: Duration = Duration::from_hours(1);

const CALM: &str = "a quiet afternoon";

fn picture(violent: bool) -> Vec<u8> {
    FakeProvider::picture(96, 96, ImageFormat::Png, violent)
}

fn reason(verdict: &Value) -> &str {
    verdict["moderationResult"]["reason"].as_str().unwrap()
}
