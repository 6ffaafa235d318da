//! Which entry is found, and up to which distance.

mod nearest;

use super::*;

fn id(number: u128) -> HashEntryId {
    Uuid::from_u128(number).into()
}

fn picture(file: &[u8], look: u8) -> Hashed {
    Hashed {
        sha256: Sha256Digest::of(file),
        pdq: Some([look; 32].into()),
        quality: 100,
    }
}

#[test]
fn the_same_file_counts_before_what_looks_the_same() {
    let entries = [
        (id(1), ImageHash::Pdq([0; 32].into())),
        (id(4), ImageHash::Sha256(Sha256Digest::of(b"a"))),
        (id(3), ImageHash::Sha256(Sha256Digest::of(b"a"))),
    ];
    let mut index: HashIndex = entries.into_iter().collect();
    let found = |index: &HashIndex, file| {
        index
            .find(&picture(file, 0), 31)
            .map(|found| (found.entry, found.algorithm))
    };
    assert_eq!(found(&index, b"a"), Some((id(3), HashAlgorithm::Sha256)));
    assert_eq!(found(&index, b"b"), Some((id(1), HashAlgorithm::Pdq)));
    assert!(index.remove(id(3), &entries[2].1));
    assert!(!index.remove(id(3), &entries[2].1));
    assert_eq!(found(&index, b"a"), Some((id(4), HashAlgorithm::Sha256)));
    assert!(index.remove(id(4), &entries[1].1) && index.remove(id(1), &entries[0].1));
    assert_eq!(found(&index, b"a"), None);
    assert!(index.is_empty());
}

#[test]
fn a_picture_without_quality_is_found_by_its_file_only() {
    let index: HashIndex = [(id(1), ImageHash::Pdq([0; 32].into()))]
        .into_iter()
        .collect();
    let plain = Hashed {
        pdq: None,
        ..picture(b"a", 0)
    };
    assert_eq!(index.find(&plain, 31), None);
}

#[test]
fn no_distance_reaches_farther_than_the_reference_s() {
    let mut far = [0; 32];
    far[..4].fill(0xff);
    let index: HashIndex = [(id(1), ImageHash::Pdq(far.into()))].into_iter().collect();
    assert_eq!(index.find(&picture(b"a", 0), 256), None);
}
