//! PDQ against the reference: published hashes of published pictures, and what the reference's
//! library computes. `tests/pictures/README.md` says where both come from.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use domain::image_hash::{Hashed, MAX_DISTANCE, MIN_QUALITY, Pdq};
use image::{DynamicImage, RgbImage, codecs::jpeg::JpegEncoder, imageops::FilterType};

type Change = fn(&DynamicImage) -> DynamicImage;

/// File, published hash, hash and quality by the reference's library.
const PICTURES: [(&str, &str, &str, u8); 14] = [
    (
        "bridge-1-original.jpg",
        "f8f8f0cce0f4e84d0e370a22028f67f0b36e2ed596623e1d33e6339c4e9c9b22",
        "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22",
        100,
    ),
    (
        "shrink-a-lot.jpg",
        "d0f8f1ccc0f4a84d0a370a3a228f67f0b36e2ed5b6623e1d33e6339c4e9c9b22",
        "d0f8f1ccc0f4a84d0a370a3a228f67f0b36e2ed5b6623e1d33e6339c4e9c9b22",
        100,
    ),
    (
        "square-128x128.jpg",
        "d8f8f1eec0f4a84f0e37022a078f63f0b36e2ed596621e1d33e6239c4e9c9b22",
        "d8f8f1eec0f4a84f0e37022a078f63f0b36e2ed596621e1d33e6239c4e9c9b22",
        100,
    ),
    (
        "square-256x256.jpg",
        "d8f8f0cec4f4a84f0637022a078f67f0b36e2ee5b6621e1d33e6239c4e9c9b22",
        "d8f8f0cec4f4a84f0637022a078f67f0b36e2ee5b6621e1d33e6239c4e9c9b22",
        100,
    ),
    (
        "square-512x512.jpg",
        "d8f8f0cec0f4a84f0637022a278f67f0b36e2ed596621e1d33e6339c4e9c9b22",
        "d8f8f0cec0f4a84f0637022a278f67f0b36e2ed596621e1d33e6339c4e9c9b22",
        100,
    ),
    (
        "small.jpg",
        "0007001f003f003f007f00ff00ff00ff01ff01ff01ff03ff03ff03ff03ff03ff",
        "0007001f003f003f007f00ff00ff00ff01ff01ff01ff03ff03ff03ff03ff03ff",
        0,
    ),
    (
        "wee.jpg",
        "6227401f601ff4ccafcc9fad4b0d95d371a2eb7265a3285234d228ca94deeb2d",
        "6227401f601ff4ccafccdfad4b0d95d371a2cb7265a3285234d228ca94deeb2d",
        100,
    ),
    (
        "q0003.jpg",
        "54a977c221d14c1c43ba5e4e21d4a13989a3553f1462611cbb87fda7be83b677",
        "54e9f7c221d14c1c43ba566e21d4a13989a3553f1472611cbb85fda5be03b677",
        2,
    ),
    (
        "q0004.jpg",
        "992d44af36d69e6ca6b812485928bac11def254ef539ac6d07466c9abcc65b92",
        "992d44af36d69e6ca6b812485928bac11def254ef5399c6d07466c9abcc65b92",
        4,
    ),
    (
        "q0122.jpg",
        "cfb2009ddd21c6dab0846a7745b5984757a8a4535b3377aea2591d32b33ff840",
        "cfb2009ddd21c75ab0046a7745b5984757a8a4535b3377aea2591d32b33ff940",
        100,
    ),
    (
        "q0291.jpg",
        "a0fe94f1e5cc1cc8dd855948498dc9243f7ca27336f036d7f212b74bc103c9a7",
        "a0fe94f1e5cc1cc8dd855948498dc9243f7ca27336f036d7f212b74bc103c9a7",
        100,
    ),
    (
        "q0746.jpg",
        "3049d96239e24d4dca2c55512b8b9b77425f4dbcf575a0a95555aaab5554aaaa",
        "1049d96239e24d4dca2c55512b8bdb77425f4dbcf575a0a95555aaab5554aaaa",
        100,
    ),
    (
        "q1050.jpg",
        "489db672e9190276d452aeab41eba20f02375fe4092d88defdf491a5c55c5f70",
        "489db672e9190276d452aeab41eba20f02375fe4092d88defdf491a5c55c5f70",
        100,
    ),
    (
        "q2821.jpg",
        "b150231ffae4710ffcf4f18bb574b109a576f14bb8543189f8743289f174b109",
        "b150231ffae4710ffcf4f18bb574b109a576f14bb8543189f8743289f174b109",
        100,
    ),
];

/// The published hashes of the bridge when it is turned and mirrored; each is a file of its own
/// there. The reference turns counter-clockwise.
const TURNED: [(Change, &str); 5] = [
    (
        DynamicImage::rotate270,
        "b0a10efd71cc3f429413d48d0ffffe12e34e0e17ada952a9d29684210aa9e5af",
    ),
    (
        DynamicImage::rotate180,
        "adad5a64b5a142e55362a09057dacd5ae63b847fc23794b766b319361fc93188",
    ),
    (
        DynamicImage::rotate90,
        "a5f4a457a48995e8c9065c275aaa5498b61ba4bdf8fcf80387c32f8b0bfc4f05",
    ),
    (
        DynamicImage::flipv,
        "f8f80f31e0f417b00e37f5cd028f980fb36ed02a9662c1e233e6cc634e9c64dd",
    ),
    (
        DynamicImage::fliph,
        "8dad2599b1a1bd1853625f6553da32a1e63b7280c2374b4866b366c91bc9ce77",
    ),
];

/// Width and height of a picture of [`waves`], with its hash and quality by the reference's
/// library.
const WAVES: [(u32, u32, &str, u8); 11] = [
    (1, 1, NONE, 0),
    (4, 900, NONE, 0),
    (
        5,
        5,
        "c4f19e27390e64d961d8d6b544c9294a9e279b26c4f19e273b0e64d961d8d6b5",
        5,
    ),
    (
        5,
        3000,
        "ce737c9f9e279e27390e3e0f3b0ecb72318c61d86b5a61d881e0c3f0c1f061d8",
        100,
    ),
    (
        3000,
        5,
        "196470f1669b4d0686dd78f586cd870a7922869b996470f1669b792686dd78f5",
        100,
    ),
    (
        64,
        64,
        "9a9f32a2c54fbb50e6878c98532b0c5eaa95ae2778c8575278c4ca2972d38fae",
        100,
    ),
    (
        63,
        65,
        "9b9d72a2c50f3b50e64738b8d72b1c5ee3950e67f289155269c48a2952d38fae",
        100,
    ),
    (
        129,
        127,
        "9cbe74e0d90fb358066338d841b71f54e8b5036ffe88103befc38a26d4fc9528",
        100,
    ),
    (
        1000,
        7,
        "5555a99c2aaa5663aaaad459b9506626915999d96ea699d956ad29b65555a99c",
        100,
    ),
    (
        300,
        200,
        "5378a747caaa94ca295ef25024d7b9976f30d87005e7bd86a19e9dbca938b920",
        100,
    ),
    (
        1537,
        769,
        "1e7e1c001c00fc7ffcfff87f807800fc9ffc1ff01fe0ffe0ffc0fc00b8001800",
        100,
    ),
];
const NONE: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// The most bits in which our hash of a published picture may differ from the published one.
const TOLERANCE: u32 = 10;

fn read(name: &str) -> DynamicImage {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/pictures")
        .join(name);
    image::open(path).unwrap()
}

fn pdq(picture: &DynamicImage) -> (Pdq, u8) {
    let rgb = picture.to_rgb8();
    Pdq::of_rgb(&rgb, rgb.width(), rgb.height())
}

/// In whole numbers, so that every language makes the same picture: tests/pictures/README.md needs
/// no file for it.
fn waves(width: u32, height: u32) -> RgbImage {
    let wave = |x, y, across, down, both| {
        let sum = x * x * across / width + y * y * down / height + x * y * both / width;
        u8::try_from(sum % 256).unwrap()
    };
    RgbImage::from_fn(width, height, |x, y| {
        image::Rgb([
            wave(x, y, 3, 5, 1),
            wave(x, y, 1, 2, 7),
            wave(x, y, 6, 1, 2),
        ])
    })
}

#[test]
fn published_pictures_have_their_published_hashes() {
    for (name, published, ..) in PICTURES {
        let distance = pdq(&read(name)).0.distance(&published.parse().unwrap());
        assert!(distance <= TOLERANCE, "{name} differs in {distance} bits");
    }
}

#[test]
fn hash_and_quality_are_those_of_the_reference_library_bit_for_bit() {
    for (name, _, computed, quality) in PICTURES {
        assert_eq!(
            pdq(&read(name)),
            (computed.parse().unwrap(), quality),
            "{name}"
        );
    }
    for (width, height, computed, quality) in WAVES {
        let picture = DynamicImage::from(waves(width, height));
        assert_eq!(
            pdq(&picture),
            (computed.parse().unwrap(), quality),
            "{width} x {height}"
        );
    }
}

#[test]
fn a_turned_or_mirrored_picture_has_the_published_hash_of_that() {
    let bridge = read("bridge-1-original.jpg");
    for (turn, published) in TURNED {
        let distance = pdq(&turn(&bridge)).0.distance(&published.parse().unwrap());
        assert!(
            distance <= TOLERANCE,
            "{published} differs in {distance} bits"
        );
    }
}

#[test]
fn a_changed_copy_stays_within_the_distance_of_a_match() {
    fn recompressed(picture: &DynamicImage) -> DynamicImage {
        let mut file = Vec::new();
        let encoder = JpegEncoder::new_with_quality(&mut file, 60);
        picture.write_with_encoder(encoder).unwrap();
        image::load_from_memory(&file).unwrap()
    }
    let changes: [(&str, Change); 6] = [
        ("recompressed", recompressed),
        ("half as large", |p| {
            p.resize(p.width() / 2, p.height() / 2, FilterType::Triangle)
        }),
        ("twice as large", |p| {
            p.resize(p.width() * 2, p.height() * 2, FilterType::CatmullRom)
        }),
        ("blurred", |p| p.blur(1.0)),
        ("grey", |p| DynamicImage::from(p.to_luma8())),
        ("brighter", |p| p.brighten(12)),
    ];
    // Without q0122, calm sea under a clear sky: at half size, it is 34 bits away, and the
    // reference says the same.
    for name in ["square-512x512.jpg", "q0291.jpg", "q1050.jpg", "q2821.jpg"] {
        let picture = read(name);
        let (hash, _) = pdq(&picture);
        for (change, changed) in &changes {
            let distance = pdq(&changed(&picture)).0.distance(&hash);
            assert!(
                distance <= MAX_DISTANCE,
                "{name}, {change}: {distance} bits"
            );
        }
    }
}

#[test]
fn different_pictures_are_far_apart() {
    let names = [
        "bridge-1-original.jpg",
        "wee.jpg",
        "q0122.jpg",
        "q0291.jpg",
        "q0746.jpg",
        "q1050.jpg",
        "q2821.jpg",
    ];
    let hashes = names.map(|name| pdq(&read(name)).0);
    for (at, hash) in hashes.iter().enumerate() {
        for (other_at, other) in hashes.iter().enumerate().take(at) {
            let distance = hash.distance(other);
            assert!(
                distance > 2 * MAX_DISTANCE,
                "{} and {}: {distance}",
                names[at],
                names[other_at]
            );
        }
    }
}

#[test]
fn a_picture_without_quality_is_known_by_its_file_alone() {
    for (name, _, computed, quality) in PICTURES {
        let rgb = read(name).to_rgb8();
        let hashed = Hashed::new(name.as_bytes(), &rgb, rgb.width(), rgb.height());
        let expected = (quality >= MIN_QUALITY).then(|| computed.parse().unwrap());
        assert_eq!((hashed.pdq, hashed.quality), (expected, quality), "{name}");
        assert_eq!(
            hashed.sha256,
            domain::image_hash::Sha256Digest::of(name.as_bytes())
        );
    }
}
