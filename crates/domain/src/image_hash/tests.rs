//! How hashes are written, computed and compared.

use super::*;

const DIGITS: &str = "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22";

#[test]
fn a_hash_is_64_hexadecimal_digits() {
    let hash: Pdq = DIGITS.parse().unwrap();
    assert_eq!(hash.to_string(), DIGITS);
    assert_eq!(DIGITS.to_uppercase().parse(), Ok(hash));
    assert_eq!(serde_json::to_value(hash).unwrap(), DIGITS);
    assert_eq!(serde_json::from_value::<Pdq>(DIGITS.into()).unwrap(), hash);
    for wrong in [
        "",
        &DIGITS[1..],
        &DIGITS[2..],
        &format!("{DIGITS}00"),
        &DIGITS.replace('f', "g"),
    ] {
        assert_eq!(wrong.parse::<Pdq>(), Err(MalformedHash), "{wrong}");
        assert_eq!(wrong.parse::<Sha256Digest>(), Err(MalformedHash), "{wrong}");
    }
}

#[test]
fn the_digest_is_sha_256() {
    // printf abc | sha256sum
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(Sha256Digest::of(b"abc").to_string(), expected);
}

#[test]
fn the_distance_is_the_number_of_differing_bits() {
    let mut other = [0; 32];
    assert_eq!(Pdq::from([0; 32]).distance(&Pdq::from(other)), 0);
    assert_eq!(Pdq::from([0xff; 32]).distance(&Pdq::from(other)), 256);
    (other[0], other[31]) = (0b1010_0000, 0b1);
    assert_eq!(Pdq::from([0; 32]).distance(&Pdq::from(other)), 3);
}

#[test]
fn a_prefix_is_from_the_first_hash_to_the_last_one_that_begins_so() {
    let range = |text: &str| {
        let HashPrefix { from, to } = text.parse().ok()?;
        Some((Pdq::from(from).to_string(), Pdq::from(to).to_string()))
    };
    let (from, to) = range("F8f8f").unwrap();
    assert_eq!(from, format!("f8f8f{}", "0".repeat(59)));
    assert_eq!(to, format!("f8f8f{}", "f".repeat(59)));
    let whole = "ab".repeat(32);
    assert_eq!(range(&whole), Some((whole.clone(), whole.clone())));
    for text in ["", "f8f", "f8fg", "\u{e9}\u{e9}", &format!("{whole}a")] {
        assert_eq!(range(text), None, "{text:?}");
    }
}
