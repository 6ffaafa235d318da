//! What is known about the image of an item.

use domain::decision::Unchecked;
use poem_openapi::Object;
use serde::Serialize;
use store::media::KnownImage;

use super::analysis::MediaUnchecked;

/// What is known about an item's image.
#[derive(Serialize, Object)]
pub(crate) struct MediaImage {
    /// The width in pixels. `null` if it was not decoded.
    #[oai(nullable)]
    width: Option<u32>,
    /// The height in pixels. `null` if it was not decoded.
    #[oai(nullable)]
    height: Option<u32>,
    /// The SHA-256 of the file as it was submitted, in hexadecimal digits. `null` if there never was a file.
    #[oai(nullable)]
    sha256: Option<String>,
    /// The PDQ hash of the picture, in hexadecimal digits. `null` if the picture has too few features.
    #[oai(nullable)]
    pdq: Option<String>,
    /// The quality of the PDQ hash, from 0 to 100. Hashes are worth comparing from 50 on.
    #[oai(nullable)]
    pdq_quality: Option<u8>,
    /// Why it could not be analysed. `null` if it could.
    #[oai(nullable)]
    problem: Option<MediaUnchecked>,
}

impl MediaImage {
    /// `None` before the image was examined.
    pub(crate) fn of(image: KnownImage) -> Option<Self> {
        let problem = image
            .problem
            .map(|problem| MediaUnchecked::from(&Unchecked::ImageNotAnalysed { problem }));
        (image.sha256.is_some() || problem.is_some()).then(|| Self {
            width: image.size.map(|(width, _)| width),
            height: image.size.map(|(_, height)| height),
            sha256: image.sha256.map(|hash| hash.to_string()),
            pdq: image.pdq.map(|hash| hash.to_string()),
            pdq_quality: image.pdq_quality,
            problem,
        })
    }
}
