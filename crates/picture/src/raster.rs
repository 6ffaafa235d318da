//! Pixels in memory, converted to three bytes each. The memory of the decoder is reused if it is
//! large enough.

use domain::decision::ImageProblem;
use image::ColorType;

/// Pixels of three bytes, in rows from the top.
pub(super) struct Raster {
    pub(super) width: u32,
    pub(super) height: u32,
    /// `width * height * 3` bytes.
    pub(super) rgb: Vec<u8>,
}

impl Raster {
    /// Converts the output of a decoder. Transparent pixels are laid on white, as on a page. Of 16
    /// bits, the upper 8 are kept.
    pub(super) fn of(
        width: u32,
        height: u32,
        color: ColorType,
        decoded: Vec<u8>,
    ) -> Result<Self, ImageProblem> {
        let rgb = match color {
            ColorType::Rgb8 => decoded,
            ColorType::Rgba8 => in_place::<4>(decoded, |[r, g, b, a]| [r, g, b].map(on_white(a))),
            ColorType::L8 => decoded.into_iter().flat_map(|l| [l; 3]).collect(),
            ColorType::La8 => pixels::<2>(&decoded, |[l, a]| [on_white(a)(l); 3]),
            ColorType::L16 => pixels::<2>(&decoded, |wide| [upper(&wide, 0); 3]),
            ColorType::La16 => in_place::<4>(decoded, |wide| {
                [on_white(upper(&wide, 1))(upper(&wide, 0)); 3]
            }),
            ColorType::Rgb16 => in_place::<6>(decoded, |wide| [0, 1, 2].map(|n| upper(&wide, n))),
            ColorType::Rgba16 => in_place::<8>(decoded, |wide| {
                let alpha = upper(&wide, 3);
                [0, 1, 2].map(|n| on_white(alpha)(upper(&wide, n)))
            }),
            // Floating point, which none of our formats has.
            _ => return Err(ImageProblem::Unsupported),
        };
        Ok(Self { width, height, rgb })
    }

    /// The memory for converting a decoder's pixels at its peak, in bytes for each pixel.
    pub(super) fn memory_per_pixel(color: ColorType) -> u64 {
        match color {
            // The result is larger, so both are in memory.
            ColorType::L8 => 1 + 3,
            ColorType::La8 | ColorType::L16 => 2 + 3,
            other => u64::from(other.bytes_per_pixel()),
        }
    }
}

/// Converts pixels of `N` bytes, three or more, in place.
fn in_place<const N: usize>(mut decoded: Vec<u8>, pixel: impl Fn([u8; N]) -> [u8; 3]) -> Vec<u8> {
    let count = decoded.len() / N;
    for i in 0..count {
        let mut wide = [0; N];
        wide.copy_from_slice(&decoded[i * N..][..N]);
        decoded[i * 3..][..3].copy_from_slice(&pixel(wide));
    }
    decoded.truncate(count * 3);
    decoded.shrink_to_fit();
    decoded
}

fn pixels<const N: usize>(decoded: &[u8], pixel: impl Fn([u8; N]) -> [u8; 3]) -> Vec<u8> {
    let (wide, _) = decoded.as_chunks::<N>();
    wide.iter().flat_map(|wide| pixel(*wide)).collect()
}

/// The upper half of a pixel's n-th 16-bit channel, in the machine's byte order.
fn upper(wide: &[u8], channel: usize) -> u8 {
    let (channels, _) = wide.as_chunks::<2>();
    u16::from_ne_bytes(channels[channel]).to_be_bytes()[0]
}

/// A channel under this opacity, before white.
fn on_white(alpha: u8) -> impl Fn(u8) -> u8 {
    let alpha = u16::from(alpha);
    move |channel| {
        let mixed = (u16::from(channel) * alpha + 255 * (255 - alpha) + 127) / 255;
        u8::try_from(mixed).unwrap_or(u8::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rgb(color: ColorType, decoded: &[u8]) -> Vec<u8> {
        Raster::of(1, 1, color, decoded.to_vec()).unwrap().rgb
    }

    #[test]
    fn every_kind_of_pixel_becomes_red_green_and_blue_on_white() {
        let wide = |channels: &[u16]| -> Vec<u8> {
            channels.iter().flat_map(|c| c.to_ne_bytes()).collect()
        };
        assert_eq!(rgb(ColorType::Rgb8, &[1, 2, 3]), [1, 2, 3]);
        assert_eq!(rgb(ColorType::L8, &[7]), [7; 3]);
        assert_eq!(rgb(ColorType::La8, &[0, 0]), [255; 3]);
        assert_eq!(rgb(ColorType::La8, &[9, 255]), [9; 3]);
        assert_eq!(rgb(ColorType::Rgba8, &[9, 8, 7, 255]), [9, 8, 7]);
        assert_eq!(rgb(ColorType::Rgba8, &[9, 8, 7, 0]), [255; 3]);
        assert_eq!(rgb(ColorType::Rgba8, &[0, 0, 0, 128]), [127; 3]);
        assert_eq!(rgb(ColorType::L16, &wide(&[0x1234])), [0x12; 3]);
        assert_eq!(rgb(ColorType::La16, &wide(&[0x1234, 0xffff])), [0x12; 3]);
        let opaque = wide(&[0x1234, 0x5678, 0x9abc]);
        assert_eq!(rgb(ColorType::Rgb16, &opaque), [0x12, 0x56, 0x9a]);
        let translucent = wide(&[0x1234, 0x5678, 0x9abc, 0]);
        assert_eq!(rgb(ColorType::Rgba16, &translucent), [255; 3]);
    }
}
