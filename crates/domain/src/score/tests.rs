//! Categories, and how scores are set, merged, written and read.

use super::*;

#[test]
fn the_list_is_in_the_order_of_the_indices_and_names_agree_with_serde() {
    for (at, category) in Category::ALL.into_iter().enumerate() {
        assert_eq!(category.index(), at);
        assert_eq!(
            serde_json::to_value(category).unwrap(),
            serde_json::Value::from(category.as_str())
        );
    }
}

#[test]
fn scores_are_clamped_and_a_nan_is_no_score() {
    let scores: Scores = [
        (Category::Adult, 1.5),
        (Category::Hate, -1.0),
        (Category::Spam, f64::NAN),
    ]
    .into_iter()
    .collect();
    assert_eq!(
        scores.iter().collect::<Vec<_>>(),
        [(Category::Adult, 1.0), (Category::Hate, 0.0)]
    );
}

#[test]
fn merging_takes_the_maximum_and_keeps_absent_absent() {
    let mut scores: Scores = [(Category::Adult, 0.2), (Category::Violence, 0.9)]
        .into_iter()
        .collect();
    scores.merge_max(
        &[
            (Category::Adult, 0.4),
            (Category::Violence, 0.1),
            (Category::Hate, 0.0),
        ]
        .into_iter()
        .collect(),
    );
    assert_eq!(
        serde_json::to_string(&scores).unwrap(),
        r#"{"adult":0.4,"violence":0.9,"hate":0.0}"#
    );
}

#[test]
fn documents_are_read_back_and_refused_outside_the_range() {
    let scores: Scores = serde_json::from_str(r#"{"spam":0.25,"adult":1}"#).unwrap();
    assert_eq!(
        serde_json::to_string(&scores).unwrap(),
        r#"{"adult":1.0,"spam":0.25}"#
    );
    assert!(serde_json::from_str::<Scores>(r#"{"spam":1.01}"#).is_err());
    assert!(serde_json::from_str::<Scores>(r#"{"gore":0.5}"#).is_err());
}
