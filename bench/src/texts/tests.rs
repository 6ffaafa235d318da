//! The texts that are made.

use super::*;

#[test]
fn equal_seeds_give_equal_texts() {
    assert_eq!(Texts::new(7).get(42).body, Texts::new(7).get(42).body);
    assert_ne!(Texts::new(7).get(42).body, Texts::new(8).get(42).body);
}

#[test]
fn lengths_are_those_of_posts() {
    let mut lengths: Vec<usize> = (0..4_000)
        .map(|number| Texts::new(1).get(number).body.len())
        .collect();
    lengths.sort_unstable();
    assert!(
        (250..420).contains(&lengths[2_000]),
        "median {}",
        lengths[2_000]
    );
    assert!(lengths[0] < 80, "shortest {}", lengths[0]);
    assert!(
        (6_000..21_000).contains(&lengths[3_999]),
        "longest {}",
        lengths[3_999]
    );
}

#[test]
fn what_is_expected_stands_in_the_text() {
    let mut seen = [0; 4];
    for number in 0..4_000 {
        let Text { body, expected } = Texts::new(3).get(number);
        let blocked = body.split_whitespace().any(|word| word == "blockedword");
        let reviewed = body
            .split_whitespace()
            .any(|word| word.starts_with("review-"));
        match expected {
            Some(Status::Rejected) => assert!(blocked),
            Some(Status::PendingReview) => {
                assert!(!blocked);
                assert!(reviewed || of_harmless_words(&body) == Some(Status::PendingReview));
            }
            Some(Status::Pending) => panic!("nothing stays pending"),
            Some(Status::Approved) | None => assert!(!blocked && !reviewed),
        }
        seen[expected.map_or(3, |status| status as usize - 1)] += 1;
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

#[test]
fn a_plain_text_has_the_length_asked_for() {
    for number in 0..1_000 {
        let text = Texts::new(5).plain(number, 300);
        assert!(text.len() == 300 && text.is_ascii(), "{text}");
    }
}

#[test]
fn a_share_of_the_texts_goes_to_people_and_all_others_are_harmless() {
    let texts = Texts::new(9);
    let bodies: Vec<String> = (0..400)
        .map(|number| texts.with_reviews(number, 10))
        .collect();
    let reviewed = bodies.iter().filter(|body| body.contains("review-"));
    assert_eq!(reviewed.count(), 40);
    for body in &bodies {
        assert!(
            !body.contains("blockedword") && of_harmless_words(body) != Some(Status::PendingReview),
            "{body}"
        );
    }
}
