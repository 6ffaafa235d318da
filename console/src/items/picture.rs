//! What is known about the image of an item.

use domain::{decision::Unchecked, media::ContentType};
use management::media::{Item, KnownImage};

/// What is known about the image.
pub(super) struct Picture {
    pub(super) kind: String,
    pub(super) size: Option<String>,
    pub(super) bytes: Option<String>,
    pub(super) sha256: Option<String>,
    pub(super) pdq: Option<String>,
    pub(super) quality: Option<u8>,
    pub(super) problem: Option<String>,
}

/// `None`: the item has no image.
pub(super) fn of(item: &Item) -> Option<Picture> {
    let known = match (&item.image, item.content_type) {
        (None, ContentType::Text) => return None,
        (known, _) => known.as_ref(),
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
