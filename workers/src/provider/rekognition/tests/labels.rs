//! Labels as the published taxonomy orders them.

use serde_json::json;

use super::super::*;
use crate::provider::Rekognition;

fn read_labels(labels: &[(&str, &str, f64)]) -> Result<Scores, ProviderError> {
    let labels: Vec<_> = labels
        .iter()
        .map(|(name, parent, confidence)| {
            json!({ "Name": name, "ParentName": parent, "Confidence": confidence, "TaxonomyLevel": 1 })
        })
        .collect();
    let body =
        json!({ "ModerationLabels": labels, "ModerationModelVersion": "7.0", "ContentTypes": [] });
    read(&serde_json::to_vec(&body).unwrap(), Rekognition::CATEGORIES)
}

fn one(labels: &[(&str, &str, f64)], category: Category) -> Option<f64> {
    read_labels(labels).unwrap().get(category)
}

#[test]
fn without_labels_all_that_the_taxonomy_covers_is_0_and_nothing_else_is_scored() {
    let scores = read_labels(&[]).unwrap();
    let expected: Vec<_> = Rekognition::CATEGORIES.iter().map(|c| (*c, 0.0)).collect();
    assert_eq!(scores.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn a_label_counts_for_the_top_of_its_branch() {
    let explicit = [
        ("Exposed Male Genitalia", "Explicit Nudity", 75.0),
        ("Explicit Nudity", "Explicit", 50.0),
        ("Explicit", "", 50.0),
    ];
    assert_eq!(one(&explicit, Category::Adult), Some(0.75));
    assert_eq!(one(&explicit, Category::Violence), Some(0.0));
    let swimming = [("Swimwear or Underwear", "", 99.0)];
    assert_eq!(one(&swimming, Category::Adult), Some(0.0));
    let symbols = [
        ("Nazi Party", "Hate Symbols", 25.0),
        ("Hate Symbols", "", 25.0),
    ];
    assert_eq!(one(&symbols, Category::Hate), Some(0.25));
    let crash = [
        ("Air Crash", "Crashes", 50.0),
        ("Crashes", "Visually Disturbing", 50.0),
    ];
    assert_eq!(one(&crash, Category::Violence), Some(0.5));
}

#[test]
fn self_harm_is_no_violence_and_neither_is_what_stands_above_it() {
    let above = [
        ("Graphic Violence", "Violence", 75.0),
        ("Violence", "", 75.0),
    ];
    let harm = ("Self-Harm", "Graphic Violence", 75.0);
    let alone = [above[0], above[1], harm];
    assert_eq!(one(&alone, Category::SelfHarm), Some(0.75));
    assert_eq!(one(&alone, Category::Violence), Some(0.0));

    let blood = ("Blood & Gore", "Graphic Violence", 25.0);
    let both = [above[0], above[1], harm, blood];
    assert_eq!(one(&both, Category::Violence), Some(0.25));

    // Only a branch is in the answer, or it is more certain than self-harm.
    assert_eq!(one(&above, Category::Violence), Some(0.75));
    let unsure = ("Self-Harm", "Graphic Violence", 50.0);
    let more = [above[0], above[1], unsure];
    assert_eq!(one(&more, Category::Violence), Some(0.75));
}

#[test]
fn another_taxonomy_and_everything_that_is_no_answer_is_malformed() {
    for body in [
        "{}",
        "<html>",
        r#"{"ModerationLabels":[],"ModerationModelVersion":"6.1"}"#,
        r#"{"ModerationLabels":[]}"#,
        r#"{"ModerationLabels":[{"Name":"Explicit"}],"ModerationModelVersion":"7.0"}"#,
        r#"{"ModerationLabels":[{"Name":"Explicit","Confidence":101}],"ModerationModelVersion":"7.0"}"#,
    ] {
        assert!(
            read(body.as_bytes(), Rekognition::CATEGORIES).is_err(),
            "{body}"
        );
    }
    // Parents that go in a circle end.
    assert!(read_labels(&[("A", "B", 1.0), ("B", "A", 1.0)]).is_ok());
}

#[test]
fn of_a_label_that_is_there_twice_the_higher_confidence_counts() {
    let twice = [("Violence", "", 97.0), ("Violence", "", 1.0)];
    assert_eq!(one(&twice, Category::Violence), Some(0.97));
}
