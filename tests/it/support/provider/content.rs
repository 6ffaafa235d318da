//! What a request shows to the fake provider: texts or a picture, and whether they are violent.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyper::http::request::Parts;
use image::ImageFormat;
use serde_json::Value;

use super::FakeProvider;

/// The score for violence of violent content, in formats that have such numbers.
pub(super) const HIGH: f64 = 0.97;
/// Every other score, in formats that have such numbers.
pub(super) const LOW: f64 = 0.01;

/// The content of a request that is as documented.
pub(crate) struct Shown {
    /// The request. For a form: its fields without the file.
    pub(super) request: Value,
    /// Its texts. Empty for an image.
    pub(super) texts: Vec<String>,
    /// Whether each text is violent, or the image.
    pub(super) violent: Vec<bool>,
}

/// A picture in a request.
pub(super) struct Picture {
    pub(super) format: ImageFormat,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) bytes: usize,
    violent: bool,
}

/// How the real provider refuses a request: a status and a code.
pub(crate) struct Refusal(pub(super) u16, pub(super) &'static str);

impl Shown {
    pub(super) fn texts(request: &Value, texts: Vec<String>) -> Self {
        let violent = texts
            .iter()
            .map(|text| text.contains(FakeProvider::VIOLENT));
        Self {
            request: request.clone(),
            violent: violent.collect(),
            texts,
        }
    }

    pub(super) fn picture(request: &Value, picture: &Picture) -> Self {
        Self {
            request: request.clone(),
            texts: Vec::new(),
            violent: vec![picture.violent],
        }
    }

    pub(super) fn is_text(&self) -> bool {
        !self.texts.is_empty()
    }

    /// The same content, but none of it is violent.
    pub(super) fn calm(&self) -> Self {
        Self {
            request: self.request.clone(),
            texts: self.texts.clone(),
            violent: vec![false; self.violent.len()],
        }
    }
}

impl Picture {
    /// Reads a file. A picture is violent if it is red in the middle.
    pub(super) fn read(file: &[u8]) -> Option<Self> {
        let format = image::guess_format(file).ok()?;
        let picture = image::load_from_memory(file).ok()?.into_rgb8();
        let (width, height) = picture.dimensions();
        let [red, green, blue] = picture.get_pixel(width / 2, height / 2).0;
        Some(Self {
            format,
            width,
            height,
            bytes: file.len(),
            violent: red > 150 && green < 100 && blue < 100,
        })
    }

    pub(super) fn of_base64(text: &str) -> Option<Self> {
        Self::read(&STANDARD.decode(text).ok()?)
    }

    pub(super) fn sides(&self) -> [u32; 2] {
        [self.width, self.height]
    }
}

/// Checks that this header has the right value, and that the URL does not contain the key.
pub(super) fn knows_key(parts: &Parts, header: &str, value: &str) -> Result<(), Refusal> {
    let shown = parts.headers.get(header);
    let hidden = !parts.uri.to_string().contains(FakeProvider::KEY);
    if hidden && shown.is_some_and(|shown| shown == value) {
        Ok(())
    } else {
        Err(Refusal(401, "invalid_api_key"))
    }
}
