//! Animated files in plain colours, in all formats that we read.

use ::png::{Compression, Encoder};
use image::{DynamicImage, RgbaImage, codecs::webp::WebPEncoder};

use crate::animation::canvas::{Area, Dispose};

pub(super) const WIDTH: u32 = 16;
pub(super) const HEIGHT: u32 = 8;
pub(super) const WHITE: [u8; 3] = [255; 3];
pub(super) const RED: [u8; 3] = [255, 0, 0];
pub(super) const GREEN: [u8; 3] = [0, 255, 0];
pub(super) const BLUE: [u8; 3] = [0, 0, 255];
pub(super) const BLACK: [u8; 3] = [0, 0, 0];

/// A frame in one colour, or none, over some of the canvas.
#[derive(Clone, Copy)]
pub(super) struct Plain {
    pub(super) area: Area,
    pub(super) rgba: [u8; 4],
    pub(super) dispose: Dispose,
    pub(super) is_blended: bool,
}

pub(super) const ALL: Area = Area {
    left: 0,
    top: 0,
    width: WIDTH,
    height: HEIGHT,
};
pub(super) const LEFT: Area = Area {
    width: WIDTH / 2,
    ..ALL
};

pub(super) fn plain([r, g, b]: [u8; 3]) -> Plain {
    Plain {
        area: ALL,
        rgba: [r, g, b, 255],
        dispose: Dispose::Keep,
        is_blended: true,
    }
}

impl Plain {
    pub(super) fn on(self, area: Area) -> Self {
        Self { area, ..self }
    }

    pub(super) fn disposed(self, dispose: Dispose) -> Self {
        Self { dispose, ..self }
    }

    pub(super) fn pixels(&self) -> Vec<u8> {
        self.rgba
            .repeat(self.area.width as usize * self.area.height as usize)
    }
}

pub(super) fn gif(frames: &[Plain]) -> Vec<u8> {
    sized_gif((16, 8), frames)
}

pub(super) fn sized_gif((width, height): (u16, u16), frames: &[Plain]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = ::gif::Encoder::new(&mut file, width, height, &[]).unwrap();
    for plain in frames {
        let small = |side: u32| u16::try_from(side).unwrap();
        let (w, h) = (small(plain.area.width), small(plain.area.height));
        let [red, green, blue, opacity] = plain.rgba;
        let transparent = (opacity == 0).then_some(0);
        let pixels = vec![0; usize::from(w) * usize::from(h)];
        let palette = [red, green, blue, 0, 0, 0];
        let mut frame = ::gif::Frame::from_palette_pixels(w, h, pixels, palette, transparent);
        (frame.left, frame.top) = (small(plain.area.left), small(plain.area.top));
        frame.dispose = match plain.dispose {
            Dispose::Keep => ::gif::DisposalMethod::Keep,
            Dispose::Clear => ::gif::DisposalMethod::Background,
            Dispose::Restore => ::gif::DisposalMethod::Previous,
        };
        encoder.write_frame(&frame).unwrap();
    }
    drop(encoder);
    file
}

/// An animation, with a default image that is not part of it if one is given.
pub(super) fn png(default: Option<Plain>, frames: &[Plain]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, WIDTH, HEIGHT);
    encoder.set_color(::png::ColorType::Rgba);
    encoder.set_compression(Compression::Fast);
    let count = u32::try_from(frames.len()).unwrap();
    encoder.set_animated(count, 0).unwrap();
    encoder.set_sep_def_img(default.is_some()).unwrap();
    let mut writer = encoder.write_header().unwrap();
    if let Some(default) = default {
        writer.write_image_data(&default.pixels()).unwrap();
    }
    for frame in frames {
        let area = frame.area;
        // The first frame covers all of the canvas.
        if area.width < WIDTH {
            writer.set_frame_dimension(area.width, area.height).unwrap();
            writer.set_frame_position(area.left, area.top).unwrap();
        } else {
            writer.reset_frame_dimension().unwrap();
            writer.reset_frame_position().unwrap();
        }
        let blend = if frame.is_blended {
            ::png::BlendOp::Over
        } else {
            ::png::BlendOp::Source
        };
        writer.set_blend_op(blend).unwrap();
        let dispose = match frame.dispose {
            Dispose::Keep => ::png::DisposeOp::None,
            Dispose::Clear => ::png::DisposeOp::Background,
            Dispose::Restore => ::png::DisposeOp::Previous,
        };
        writer.set_dispose_op(dispose).unwrap();
        writer.write_image_data(&frame.pixels()).unwrap();
    }
    writer.finish().unwrap();
    file
}

pub(super) fn webp(frames: &[Plain]) -> Vec<u8> {
    let three = |number: u32| number.to_le_bytes()[..3].to_vec();
    let chunk = |name: &[u8; 4], content: &[u8]| {
        let length = u32::try_from(content.len()).unwrap().to_le_bytes();
        let mut chunk = [&name[..], &length, content].concat();
        chunk.resize(chunk.len().next_multiple_of(2), 0);
        chunk
    };
    let flags = vec![0b1_0010, 0, 0, 0];
    let mut body = b"WEBP".to_vec();
    body.extend(chunk(
        b"VP8X",
        &[flags, three(WIDTH - 1), three(HEIGHT - 1)].concat(),
    ));
    body.extend(chunk(b"ANIM", &[0; 6]));
    for frame in frames {
        let area = frame.area;
        let picture = RgbaImage::from_raw(area.width, area.height, frame.pixels()).unwrap();
        let mut still = Vec::new();
        DynamicImage::from(picture)
            .write_with_encoder(WebPEncoder::new_lossless(&mut still))
            .unwrap();
        let flags =
            u8::from(frame.dispose == Dispose::Clear) | if frame.is_blended { 0 } else { 2 };
        let head = [
            three(area.left / 2),
            three(area.top / 2),
            three(area.width - 1),
            three(area.height - 1),
            three(100),
            vec![flags],
        ];
        body.extend(chunk(b"ANMF", &[&head.concat(), &still[12..]].concat()));
    }
    chunk(b"RIFF", &body)
}

/// A GIF with this number of frames on a canvas of this size. Each frame takes a few bytes, because
/// its pixels are missing.
pub(super) fn claiming(frames: usize, (width, height): (u16, u16)) -> Vec<u8> {
    let [w, x] = width.to_le_bytes();
    let [h, i] = height.to_le_bytes();
    let mut file = b"GIF89a".to_vec();
    file.extend([w, x, h, i, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]);
    for _ in 0..frames {
        file.extend([0x2c, 0, 0, 0, 0, w, x, h, i, 0, 2, 1, 0x2c, 0]);
    }
    file.push(0x3b);
    file
}

/// Where the frames of a GIF begin.
pub(super) fn descriptors(file: &[u8]) -> impl Iterator<Item = usize> {
    (0..file.len()).filter(|at| file[*at..].starts_with(&[0x2c, 0, 0, 0, 0]))
}
