//! What is known about the image of an item.

use domain::{decision::Unchecked, media::ContentType};
use management::media::KnownImage;

/// What is known about the image.
pub(crate) struct Picture {
    pub(crate) kind: String,
    pub(crate) size: Option<String>,
    pub(crate) bytes: Option<String>,
    pub(crate) sha256: Option<String>,
    pub(crate) pdq: Option<String>,
    pub(crate) quality: Option<u8>,
    pub(crate) problem: Option<String>,
}

/// `None`: the item has no image.
pub(crate) fn of(content_type: ContentType, image: Option<&KnownImage>) -> Option<Picture> {
    let known = match (image, content_type) {
        (None, ContentType::Text) => return None,
        (known, _) => known,
    };
    let read = |read: fn(&KnownImage) -> Option<String>| known.and_then(read);
    let format = read(|image| image.format.map(|format| format.to_string()));
    Some(Picture {
        kind: format.map_or_else(|| "Not known".to_owned(), |format| format.to_uppercase()),
        size: read(|image| {
            let (width, height) = image.size?;
            Some(format!("{width} × {height} pixels"))
        }),
        bytes: read(|image| image.bytes.map(kib)),
        sha256: read(|image| image.sha256.map(|hash| hash.to_string())),
        pdq: read(|image| image.pdq.map(|hash| hash.to_string())),
        quality: known.and_then(|image| image.pdq_quality),
        problem: read(|image| {
            let problem = image.problem?;
            Some(Unchecked::ImageNotAnalysed { problem }.to_string())
        }),
    })
}

fn kib(bytes: u32) -> String {
    match bytes {
        0..1_024 => format!("{bytes} bytes"),
        _ => format!("{} KiB", bytes.div_ceil(1_024)),
    }
}
