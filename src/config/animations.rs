//! How much of an animation is analysed.

use clap::Args;
use workers::AnimationSettings;

use super::whole;

/// The bounds of animations.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct AnimationOptions {
    /// Frames of an animated GIF, WebP or PNG that are sent to providers: the first, the last, and evenly spaced ones between.
    /// Each frame is a request
    #[arg(long, env = "GATEHOUSE_ANIMATION_FRAMES", default_value_t = 5, value_parser = whole(1..=20_u32))]
    animation_frames: u32,
    /// Millions of pixels that are decoded of one animation, over all its frames. The rest is not checked, and the site's
    /// `on_failure` decides
    #[arg(long, env = "GATEHOUSE_ANIMATION_MEGAPIXELS", default_value_t = 500, value_parser = whole(10..=10_000_u32))]
    animation_megapixels: u32,
}

impl AnimationOptions {
    pub(crate) fn settings(self) -> AnimationSettings {
        AnimationSettings {
            frames: self.animation_frames as usize,
            pixels: u64::from(self.animation_megapixels) * 1_000_000,
        }
    }
}
