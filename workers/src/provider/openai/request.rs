//! The requests to the endpoint.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Serialize;

use crate::{picture::Rendition, provider::Content};

/// A request about one text or one image.
#[derive(Serialize)]
pub(super) struct Request<'a> {
    model: &'a str,
    input: Input<'a>,
}

impl<'a> Request<'a> {
    pub(super) fn new(model: &'a str, content: Content<'a>) -> Self {
        Self {
            model,
            input: match content {
                Content::Text(text) => Input::Text([text]),
                Content::Image(image) => Input::Image([ImagePart::new(image)]),
            },
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Input<'a> {
    Text([&'a str; 1]),
    Image([ImagePart; 1]),
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "image_url")]
struct ImagePart {
    image_url: ImageUrl,
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
}

impl ImagePart {
    fn new(Rendition { format, bytes }: &Rendition) -> Self {
        let encoded = STANDARD.encode(bytes);
        Self {
            image_url: ImageUrl {
                url: format!("data:image/{format};base64,{encoded}"),
            },
        }
    }
}
