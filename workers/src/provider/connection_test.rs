//! Asks a provider once, with a harmless text and a small picture, to see whether it answers. The
//! request is not counted by limits or the breaker, and nothing is kept.

use std::{
    io::Cursor,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{media::Modality, score::Category};
use image::{ImageFormat, Rgb, RgbImage};
use picture::{Limits, Picture, Rendition};

use super::{Answer, Content, Provider, ProviderError, ask_once};

const TEXT: &str = "The library opens at nine, and the garden behind it is free for everybody.";
/// Pixels of the picture's sides. No provider requires more.
const SIDE: u32 = 256;

/// The outcome of one request.
#[derive(Debug)]
pub struct Trial {
    /// What it was shown.
    pub modality: Modality,
    /// How long it took.
    pub elapsed: Duration,
    /// The categories that it should score and left out.
    pub outcome: Result<Vec<Category>, ProviderError>,
}

/// Asks a provider about a text and about a picture, if it takes them.
pub async fn try_out(provider: Arc<dyn Provider>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for modality in Modality::ALL.iter().copied() {
        let categories = provider.profile().scope.of(modality);
        if !categories.is_empty() {
            let started = Instant::now();
            let outcome = match modality {
                Modality::Text => ask_once(&*provider, Content::Text(TEXT), categories).await,
                Modality::Image => match picture(provider.profile().limits) {
                    Some(picture) => {
                        ask_once(&*provider, Content::Image(&picture), categories).await
                    }
                    None => Err(ProviderError::Malformed("it takes no picture of ours")),
                },
            };
            let unsaid = |answer: Answer| {
                let categories = categories.iter().copied();
                categories
                    .filter(|category| answer.scores.get(*category).is_none())
                    .collect()
            };
            trials.push(Trial {
                modality,
                elapsed: started.elapsed(),
                outcome: outcome.map(unsaid),
            });
        }
    }
    trials
}

/// Sky over grass, within these limits.
fn picture(limits: Option<Limits>) -> Option<Rendition> {
    let picture = RgbImage::from_fn(SIDE, SIDE, |x, y| {
        let shade = u8::try_from((x + y) % 32).unwrap_or_default();
        if y < SIDE / 2 {
            Rgb([150 + shade, 190 + shade, 220])
        } else {
            Rgb([90 + shade, 140 + shade, 80])
        }
    });
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, ImageFormat::Png).ok()?;
    let picture = Picture::decode(file.get_ref()).ok()?;
    picture.rendition(&limits?).ok()
}
