//! JPEG. Its decoder accepts a file that ends early, and fills the rest with grey. So this module
//! first walks over the file's segments, because a complete file ends with a marker. Only the
//! decoder can know whether compressed pixels are missing before that marker. It is strict, and
//! reports what it notices. A file without the marker is decoded if nothing else is missing (`scans`).

mod blocks;
mod completeness;

use domain::decision::ImageProblem;
use image::{ColorType, metadata::Orientation};
use zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions};
use zune_jpeg::{JpegDecoder, errors::DecodeErrors};

use super::{Header, MAX_SIDE, Raster, orientation};

/// The head of a file, and whether the file has an end.
pub(super) fn header(bytes: &[u8]) -> Result<(Header, bool), ImageProblem> {
    let mut segments = Segments { rest: &bytes[2..] };
    let (mut frame, mut first_scan) = (None, None);
    let has_end = loop {
        let Some((marker, content)) = segments.next() else {
            break false;
        };
        match marker {
            SOF0..=SOF2 => match Frame::of(marker, content) {
                Some(read) if frame.is_none() => frame = Some(read),
                // Two frames, or a damaged one.
                Some(_) | None => return Err(ImageProblem::Undecodable),
            },
            // Lossless, hierarchical and arithmetic JPEG, which browsers do not show either.
            0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Err(ImageProblem::Unsupported);
            }
            SOS => {
                first_scan.get_or_insert(content.first().copied().unwrap_or(0));
                segments.skip_entropy();
            }
            EOI => break true,
            _ => {}
        }
    };
    let frame = frame.ok_or(ImageProblem::Undecodable)?;
    let scan = first_scan.ok_or(ImageProblem::Undecodable)?;
    if frame.precision != 8 {
        return Err(ImageProblem::Unsupported);
    }
    // A file without an end is copied.
    let copy = if has_end { 0 } else { bytes.len() as u64 };
    let header = Header {
        width: frame.width,
        height: frame.height,
        memory: frame.memory(scan) + copy,
    };
    Ok((header, has_end))
}

/// Decodes a file from which only the marker of its end is missing.
pub(super) fn decode_without_end(bytes: &[u8]) -> Result<(Raster, Orientation), ImageProblem> {
    let end = completeness::whole(bytes).ok_or(ImageProblem::Undecodable)?;
    decode(&[&bytes[..end], &[0xff, EOI]].concat())
}

pub(super) fn decode(bytes: &[u8]) -> Result<(Raster, Orientation), ImageProblem> {
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .set_max_width(MAX_SIDE as usize)
        .set_max_height(MAX_SIDE as usize)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    let pixels = decoder.decode().map_err(|error| match error {
        DecodeErrors::Unsupported(_) => ImageProblem::Unsupported,
        _ => ImageProblem::Undecodable,
    })?;
    let (width, height) = decoder.dimensions().ok_or(ImageProblem::Undecodable)?;
    let side = |side| u32::try_from(side).map_err(|_| ImageProblem::TooLarge);
    let raster = Raster::of(side(width)?, side(height)?, ColorType::Rgb8, pixels)?;
    let exif = decoder.exif().map(Vec::as_slice);
    Ok((raster, orientation(exif)))
}

// Markers, ITU-T T.81, table B.1.
const SOF0: u8 = 0xc0;
const SOF2: u8 = 0xc2;
const EOI: u8 = 0xd9;
const SOS: u8 = 0xda;

/// The segments of a file, from one marker to the next.
struct Segments<'a> {
    rest: &'a [u8],
}

impl<'a> Segments<'a> {
    /// The next marker and its content. None at the end of the file.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        loop {
            // Decoders skip everything up to the next marker.
            let at = self.rest.iter().position(|byte| *byte == 0xff)?;
            let marker = *self.rest.get(at + 1)?;
            match marker {
                // Padding.
                0xff => self.rest = &self.rest[at + 1..],
                // A stuffed byte, and markers without content.
                0x00 | 0x01 | 0xd0..=0xd8 => self.rest = &self.rest[at + 2..],
                EOI => return Some((EOI, &[])),
                _ => {
                    let rest = &self.rest[at + 2..];
                    let length = usize::from(u16::from_be_bytes([*rest.first()?, *rest.get(1)?]));
                    let content = rest.get(2..length)?;
                    self.rest = &rest[length..];
                    return Some((marker, content));
                }
            }
        }
    }

    /// Skips compressed pixels. They contain no markers except restart markers.
    fn skip_entropy(&mut self) {
        while let Some(at) = self.rest.iter().position(|byte| *byte == 0xff) {
            match self.rest.get(at + 1) {
                Some(0x00 | 0xd0..=0xd7) => self.rest = &self.rest[at + 2..],
                Some(0xff) => self.rest = &self.rest[at + 1..],
                Some(_) | None => {
                    self.rest = &self.rest[at..];
                    return;
                }
            }
        }
        self.rest = &[];
    }
}

/// The header of a frame.
struct Frame {
    progressive: bool,
    precision: u8,
    width: u32,
    height: u32,
    components: u8,
    /// Blocks of 8 by 8 samples in a unit, over all components, and the unit's sides in blocks.
    blocks: u64,
    unit: (u32, u32),
}

impl Frame {
    fn of(marker: u8, content: &[u8]) -> Option<Self> {
        let [precision, h, i, w, x, components, rest @ ..] = content else {
            return None;
        };
        let (mut blocks, mut unit) = (0, (1, 1));
        for component in rest.chunks_exact(3) {
            let (across, down) = (u32::from(component[1] >> 4), u32::from(component[1] & 0xf));
            blocks += u64::from(across * down);
            unit = (unit.0.max(across), unit.1.max(down));
        }
        Some(Self {
            progressive: marker == SOF2,
            precision: *precision,
            width: u32::from(u16::from_be_bytes([*w, *x])),
            height: u32::from(u16::from_be_bytes([*h, *i])),
            components: *components,
            blocks,
            unit,
        })
    }

    /// The pixels, and the coefficients, two bytes each: those of a row of units, or of the whole frame when they come in
    /// several scans.
    fn memory(&self, first_scan: u8) -> u64 {
        const SAMPLES: u64 = 64 * 2;
        let across = u64::from(self.width.div_ceil(8 * self.unit.0));
        let down = u64::from(self.height.div_ceil(8 * self.unit.1));
        let row = across * self.blocks * SAMPLES;
        let whole = self.progressive || first_scan < self.components;
        // Rows are kept before and after each step of decoding.
        Header::pixels(self.width, self.height) * 3 + row * 8 + if whole { row * down } else { 0 }
    }
}
