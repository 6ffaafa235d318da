//! The command on small files, and rows with mistakes. Where figures matter, the texts say their own scores.

use std::{fs, io::Cursor, str::FromStr as _};

use clap::Parser as _;
use domain::score::Category;
use serde_json::{Value, json};

use super::*;
use crate::report;

/// Ten rows. Each text is its scores.
const ROWS: &str = r#"
{"text": "hate=0.95 spam=0.1", "labels": {"hate": true, "spam": false}, "language": "en"}
{"text": "hate=0.8 spam=0.05", "labels": {"hate": true, "spam": false}, "language": "en"}
{"text": "hate=0.8", "labels": {"hate": false}, "language": "EN"}
{"text": "hate=0.4", "labels": {"hate": true}, "language": "en"}
{"text": "hate=0.1", "labels": {"hate": false, "spam": null}, "language": "en"}

{"text": "hate=0 spam=0.9", "labels": {"hate": false, "spam": true}, "language": "de", "id": 7}
{"text": "spam=0.2", "labels": {"hate": true}, "language": "de"}
{"text": "spam=0.2", "labels": {"hate": false}, "language": "de"}
{"text": "hate=0.6", "labels": {"hate": false}}
{"text": "hate=0.9", "labels": {}}
"#;

/// Scores a text such as `hate=0.9 spam=0.1`.
fn told(text: &str) -> Scores {
    let scores = text.split_whitespace().map(|word| {
        let (category, score) = word.split_once('=').unwrap();
        (
            Category::from_str(category).unwrap(),
            score.parse().unwrap(),
        )
    });
    scores.collect()
}

fn options(arguments: &[&str]) -> Result<Options, clap::Error> {
    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        options: Options,
    }
    let command = ["quality", "--file", "-"].iter().chain(arguments);
    Command::try_parse_from(command).map(|command| command.options)
}

fn measured(rows: &str, arguments: &[&str]) -> anyhow::Result<Measured> {
    measure(
        Cursor::new(rows.to_owned()),
        "rows",
        &options(arguments).unwrap(),
        told,
    )
}

fn as_json(report: &Measured) -> Value {
    serde_json::from_str(&report::text(report, true).unwrap()).unwrap()
}

/// The figures of a category in a list of them.
fn of<'a>(list: &'a Value, category: &str) -> &'a Value {
    let mut list = list.as_array().unwrap().iter();
    list.find(|figures| figures["category"] == category)
        .unwrap()
}

#[test]
fn figures_are_those_calculated_by_hand() {
    let report = as_json(&measured(ROWS, &["--thresholds", "0.8,0.5,0.5"]).unwrap());
    assert_eq!(report["rows"], 10);
    let hate = of(&report["all"], "hate");
    assert_eq!(hate["scored"], json!({ "rows": 7, "positive": 3 }));
    assert_eq!(hate["not_scored"], json!({ "rows": 2, "positive": 1 }));
    // Precision 1 at .95, 2/3 at .8 and 3/5 at .4; each adds a third of the recall.
    let auprc = hate["auprc"]["value"].as_f64().unwrap();
    assert!((auprc - (1.0 + 2.0 / 3.0 + 3.0 / 5.0) / 3.0).abs() < 1e-12);
    assert!(hate["auprc"]["low"].as_f64().unwrap() < auprc);
    assert!(hate["auprc"]["high"].as_f64().unwrap() > auprc);
    let counts = |at: &Value| {
        [&at["precision"], &at["recall"]].map(|share| (share["count"].clone(), share["of"].clone()))
    };
    let thresholds = hate["thresholds"].as_array().unwrap();
    assert_eq!(thresholds.len(), 2);
    assert_eq!(thresholds[0]["threshold"], json!(0.5));
    assert_eq!(
        counts(&thresholds[0]),
        [(json!(2), json!(4)), (json!(2), json!(3))]
    );
    assert_eq!(thresholds[1]["threshold"], json!(0.8));
    assert_eq!(
        counts(&thresholds[1]),
        [(json!(2), json!(3)), (json!(2), json!(3))]
    );
    let share = thresholds[1]["precision"]["share"].as_f64().unwrap();
    assert!((share - 2.0 / 3.0).abs() < 1e-12);
    // The bins of 0, .1, .4 and .6 have a row each, .8 has two, and .9 has one.
    let error = hate["expected_calibration_error"].as_f64().unwrap();
    let by_hand = (0.0 + 0.1 + 0.6 + 0.6 + (1.6 - 1.0) + 0.05) / 7.0;
    assert!((error - by_hand).abs() < 1e-12);
    assert_eq!(
        hate["calibration"][8],
        json!({ "from": 0.8, "to": 0.9, "rows": 2, "positive": 1, "mean_score": 0.8, "share_positive": 0.5 })
    );
    assert_eq!(
        of(&report["all"], "spam")["scored"],
        json!({ "rows": 3, "positive": 1 })
    );
    let names: Vec<&Value> = report["all"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| &of["category"])
        .collect();
    assert_eq!(names, ["any", "hate", "spam"]);
}

#[test]
fn any_is_the_highest_score_of_labelled_categories_against_any_label() {
    let report = as_json(&measured(ROWS, &["--thresholds", "0.9"]).unwrap());
    let any = of(&report["all"], "any");
    // The last row has no label. Spam is not labelled where hate was not scored.
    assert_eq!(any["scored"], json!({ "rows": 7, "positive": 4 }));
    assert_eq!(any["not_scored"], json!({ "rows": 2, "positive": 1 }));
    let at = &any["thresholds"][0];
    assert_eq!(
        (&at["precision"]["count"], &at["precision"]["of"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(
        (&at["recall"]["count"], &at["recall"]["of"]),
        (&json!(2), &json!(4))
    );
}

#[test]
fn languages_are_told_apart_if_rows_name_them() {
    let report = as_json(&measured(ROWS, &[]).unwrap());
    let parts = report["by_language"].as_array().unwrap();
    let languages: Vec<_> = parts
        .iter()
        .map(|part| (&part["language"], &part["rows"]))
        .collect();
    assert_eq!(
        languages,
        [
            (&json!(null), &json!(2)),
            (&json!("de"), &json!(3)),
            (&json!("en"), &json!(5))
        ]
    );
    let german = of(&parts[1]["figures"], "hate");
    assert_eq!(german["scored"], json!({ "rows": 1, "positive": 0 }));
    assert_eq!(german["not_scored"], json!({ "rows": 2, "positive": 1 }));
    assert_eq!(german["auprc"], json!(null));
    let none = measured(r#"{"text": "hate=0.5", "labels": ["hate"]}"#, &[]).unwrap();
    assert!(none.by_language.is_empty());
}

#[test]
fn an_array_of_labels_says_that_all_others_are_false() {
    let row = r#"{"text": "hate=0.5 adult=0.2", "labels": ["hate"]}"#;
    let report = as_json(&measured(row, &[]).unwrap());
    assert_eq!(
        of(&report["all"], "hate")["scored"],
        json!({ "rows": 1, "positive": 1 })
    );
    assert_eq!(
        of(&report["all"], "adult")["scored"],
        json!({ "rows": 1, "positive": 0 })
    );
    assert_eq!(
        of(&report["all"], "illicit")["not_scored"],
        json!({ "rows": 1, "positive": 0 })
    );
    assert_eq!(report["all"].as_array().unwrap().len(), 9);
}

#[test]
fn the_table_has_the_figures_in_words() {
    let report = measured(ROWS, &["--thresholds", "0.8", "--resamples", "0"]).unwrap();
    let text = report::text(&report, false).unwrap();
    let expected = "
hate
  rows scored        7, 3 of them positive
  rows not scored    2, 1 of them positive
  AUPRC              0.756
  at 0.8             precision 67 %, 2 of 3 (21 to 94); recall 67 %, 2 of 3 (21 to 94)
  scores 0 to 0.1    0 % positive (0 of 1), mean score 0.000
  scores 0.1 to 0.2  0 % positive (0 of 1), mean score 0.100
  scores 0.4 to 0.5  100 % positive (1 of 1), mean score 0.400
  scores 0.6 to 0.7  0 % positive (0 of 1), mean score 0.600
  scores 0.8 to 0.9  50 % positive (1 of 2), mean score 0.800
  scores 0.9 to 1    100 % positive (1 of 1), mean score 0.950
  calibration error  0.279
";
    assert!(text.contains(expected), "{text}");
    let german = "
de: hate
  rows scored        1, 0 of them positive
  rows not scored    2, 1 of them positive
  AUPRC              none, because no row is positive
  at 0.8             precision –; recall –
";
    assert!(text.contains(german), "{text}");
}

#[test]
fn equal_seeds_give_equal_intervals() {
    let text = |seed| report::text(&measured(ROWS, &["--seed", seed]).unwrap(), true).unwrap();
    assert_eq!(text("5"), text("5"));
    assert_ne!(text("5"), text("6"));
}

#[tokio::test]
async fn the_command_scores_a_file_with_the_analyser() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(
        file.path(),
        "\u{feff}{\"text\": \"kill yourself\", \"labels\": [\"self_harm\"]}\r\n\
         {\"text\": \"What a lovely day.\", \"labels\": []}\r\n",
    )
    .unwrap();
    let mut options = options(&["--thresholds", "0.5"]).unwrap();
    options.file = file.path().to_owned();
    let report = as_json(&run(options.clone()).await.unwrap());
    let at = &of(&report["all"], "self_harm")["thresholds"][0];
    assert_eq!(
        (&at["precision"]["share"], &at["recall"]["share"]),
        (&json!(1.0), &json!(1.0))
    );
    assert_eq!(of(&report["all"], "any")["auprc"]["value"], json!(1.0));
    // Nothing scores this category.
    assert_eq!(of(&report["all"], "sexual_minors")["not_scored"]["rows"], 2);
    options.file = file.path().join("nowhere");
    let error = run(options).await.unwrap_err().to_string();
    assert!(error.starts_with("cannot open /"), "{error}");
}

#[test]
fn a_mistake_is_told_with_its_place_and_what_to_do() {
    let good = r#"{"text": "hate=0.5", "labels": ["hate"]}"#;
    for (row, place, what) in [
        (
            "hello",
            "line 2: column 1: ",
            "expected value; a row looks like {\"text\": ",
        ),
        (
            r#"{"text": "a", "labels": []"#,
            "line 2: column 26: ",
            "EOF while parsing",
        ),
        (
            r#"{"text": "a"}"#,
            "line 2: column 13: ",
            "missing field `labels`",
        ),
        (
            r#"{"labels": []}"#,
            "line 2: column 14: ",
            "missing field `text`",
        ),
        (
            r#"{"text": 5, "labels": []}"#,
            "line 2: column 10: ",
            "expected a string",
        ),
        (
            r#"{"text": "a", "labels": ["gore"]}"#,
            "line 2: column ",
            "unknown category `gore`; use adult, violence, hate, self_harm, harassment, sexual_minors, illicit, spam",
        ),
        (
            r#"{"text": "a", "labels": {"gore": true}}"#,
            "line 2: column ",
            "unknown category `gore`; use adult",
        ),
        (
            r#"{"text": "a", "labels": {"hate": 1}}"#,
            "line 2: column ",
            "expected a boolean",
        ),
        (
            r#"{"text": "a", "labels": {"hate": true, "hate": false}}"#,
            "line 2: column ",
            "`hate` is given twice",
        ),
        (
            r#"{"text": "a", "labels": null}"#,
            "line 2: column ",
            "expected `labels` as an object of category names",
        ),
        (
            r#"{"text": "a", "labels": [], "language": "German language"}"#,
            "line 2: column ",
            "`language` must be a tag such as `en` or `pt-BR`; omit it if it is unknown",
        ),
    ] {
        let error = measured(&format!("{good}\n{row}\n{good}\n"), &[]).unwrap_err();
        let error = format!("{error:#}");
        assert!(
            error.starts_with(&format!("rows: {place}")),
            "{row}: {error}"
        );
        assert!(error.contains(what), "{row}: {error}");
    }
}

#[test]
fn what_is_no_text_or_too_long_is_refused() {
    let error = |bytes: Vec<u8>| {
        let error = measure(Cursor::new(bytes), "rows", &options(&[]).unwrap(), told).unwrap_err();
        format!("{error:#}")
    };
    assert!(
        error(b"\n{\"text\": \"\xff\"}".to_vec())
            .starts_with("rows: line 2: the line is not UTF-8; convert the file")
    );
    let long = format!(r#"{{"text": "{}", "labels": []}}"#, " ".repeat(1024 * 1024));
    assert!(
        error(long.into_bytes())
            .starts_with("rows: line 1: the line is longer than 1048576 bytes; ")
    );
    assert!(
        error(b"\n \n".to_vec()).starts_with("rows has no rows; write a JSON object on each line")
    );
    // The longest line that is read.
    let row = r#"{"text": "", "labels": []}"#;
    let longest = format!("{row}{}\n{row}", " ".repeat(1024 * 1024 - row.len() - 1));
    assert_eq!(measured(&longest, &[]).unwrap().rows, 2);
}

#[test]
fn thresholds_are_numbers_from_0_to_1() {
    let given = options(&["--thresholds", "0.5, 1,0"]).unwrap().thresholds;
    assert_eq!(
        given.iter().map(f64::to_string).collect::<Vec<_>>(),
        ["0.5", "1", "0"]
    );
    for wrong in ["1.1", "-0.1", "NaN", "half", ""] {
        assert!(
            options(&[&format!("--thresholds={wrong}")]).is_err(),
            "{wrong}"
        );
    }
}
