//! Every near hash is found, whatever the list is like.

use proptest::prelude::*;
use uuid::Uuid;

use super::super::*;
use crate::image_hash::MAX_DISTANCE;

fn id(number: usize) -> HashEntryId {
    Uuid::from_u128(number as u128).into()
}

fn flipped(hash: &Pdq, bits: impl IntoIterator<Item = u8>) -> Pdq {
    let mut bytes = *hash.as_bytes();
    for bit in bits {
        bytes[usize::from(bit / 8)] ^= 1 << (bit % 8);
    }
    bytes.into()
}

/// Compares all hashes.
fn brute(
    entries: &[(HashEntryId, Pdq)],
    hash: &Pdq,
    max_distance: u32,
) -> Option<(u32, HashEntryId)> {
    let near = entries
        .iter()
        .map(|(id, entry)| (entry.distance(hash), *id));
    near.filter(|(distance, _)| *distance <= max_distance).min()
}

/// Hashes around a few centres, so that many are near to others: up to the largest distance, and a
/// little farther.
fn hashes(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Pdq>> {
    let centres = prop::collection::vec(any::<[u8; 32]>(), 1..4);
    let steps = prop::collection::vec(
        (
            any::<prop::sample::Index>(),
            prop::collection::vec(any::<u8>(), 0..40),
        ),
        count,
    );
    (centres, steps).prop_map(|(centres, steps)| {
        let step = |(centre, bits): (prop::sample::Index, Vec<u8>)| {
            flipped(&(*centre.get(&centres)).into(), bits)
        };
        steps.into_iter().map(step).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_found_is_what_looking_at_all_finds(
        listed in hashes(1..60), sought in hashes(1..20), max_distance in 0..=MAX_DISTANCE, few in 0..80_usize,
    ) {
        let entries: Vec<_> = listed.into_iter().enumerate().map(|(number, hash)| (id(number), hash)).collect();
        let mut near = Near::with_few(few);
        near.extend(entries.iter().copied());
        for hash in sought.iter().chain(entries.iter().map(|(_, hash)| hash)) {
            prop_assert_eq!(near.nearest(hash, max_distance), brute(&entries, hash, max_distance));
            // Only the tables, although so small and crowded a list would not use them.
            let mut candidates = Vec::new();
            near.words.candidates(hash, max_distance, |place| candidates.push(entries[place]));
            prop_assert!(near.words.len() == 0 || brute(&candidates, hash, max_distance) == brute(&entries, hash, max_distance));
        }
    }

    #[test]
    fn entries_come_and_go(
        listed in hashes(1..60), steps in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 1..60), few in 4..20_usize,
    ) {
        let listed: Vec<_> = listed.into_iter().enumerate().map(|(number, hash)| (id(number), hash)).collect();
        let mut near = Near::with_few(few);
        let mut entries = Vec::new();
        for (is_added, at) in steps {
            let (id, hash) = *at.get(&listed);
            let present = entries.iter().position(|entry| *entry == (id, hash));
            match (is_added, present) {
                (true, None) => {
                    entries.push((id, hash));
                    near.extend([(id, hash)].into_iter());
                }
                (true, Some(_)) => {}
                (false, present) => {
                    prop_assert_eq!(near.remove(id, &hash), present.is_some());
                    present.map(|present| entries.swap_remove(present));
                }
            }
            prop_assert_eq!(near.len(), entries.len());
            for (_, hash) in &listed {
                prop_assert_eq!(near.nearest(hash, MAX_DISTANCE), brute(&entries, hash, MAX_DISTANCE));
            }
        }
    }
}

#[test]
fn what_differs_in_as_many_bits_as_may_be_is_found_wherever_they_are() {
    let hash = Pdq::from([0x5a; 32]);
    for weak in 0..16 {
        // Two bits of each word, and one bit of the weak word: together 31.
        let bits = (0..16).flat_map(|word| {
            [
                Some(word * 16 + 3),
                (word != weak).then_some(word * 16 + 12),
            ]
        });
        let words = MultiIndex::new(&[flipped(&hash, bits.flatten())]);
        let mut found = 0;
        words.candidates(&hash, 31, |_| found += 1);
        assert_eq!(found, 1, "only the word {weak} is near enough");
    }
}

#[test]
fn a_list_that_was_made_to_cost_time_costs_no_more_than_looking_at_all() {
    // All hashes share every word but one with the picture.
    let hash = Pdq::from([0x33; 32]);
    let entries = (0..1_000_u32).map(|number| {
        let mut bytes = *hash.as_bytes();
        bytes[..4].copy_from_slice(&number.wrapping_mul(2_654_435_761).to_be_bytes());
        (id(number as usize), bytes.into())
    });
    let mut near = Near::with_few(10);
    near.extend(entries);
    assert_eq!(near.words.len(), 1_000);
    assert!(near.words.crowd(&hash, MAX_DISTANCE) >= 14_000);
    let mut seen = 0;
    near.candidates(&hash, MAX_DISTANCE, |_| seen += 1);
    assert_eq!(seen, 1_000, "each was looked at once");
}

#[test]
fn a_large_list_is_looked_up_by_its_tables() {
    let mut state = 1_u64;
    let mut random = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb)
    };
    let mut hash = || Pdq::from(std::array::from_fn(|_| random().to_be_bytes()[0]));
    let entries: Vec<_> = (0..20_000).map(|number| (id(number), hash())).collect();
    let mut near = Near::default();
    near.extend(entries.iter().copied());
    assert_eq!(near.words.len(), entries.len());
    for (number, (id, hash)) in entries.iter().enumerate().step_by(97) {
        let low = u8::try_from(number % 8).unwrap();
        let changed = flipped(hash, (0..31).map(|bit| bit * 8 + low));
        assert!(near.words.crowd(&changed, 31) < near.words.len() / CROWDED);
        assert_eq!(near.nearest(&changed, 31), Some((31, *id)));
        assert_eq!(near.nearest(&changed, 30), None);
    }
}
