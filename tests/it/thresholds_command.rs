//! `gatehouse thresholds`: the scores of two services, and the threshold of one that selects as many texts as that of the other.

use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{DataDir, FakePerspective, FakeProvider, Mode, SOON, Up, eventually, unset};

/// A key as sites have it.
const SITE_KEY: &str = "site_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const PERSPECTIVE_KEY: &str = "AIza-of-the-tests";

/// The services of a run, and its files.
struct Setting {
    directory: TempDir,
    from: &'static str,
    their_url: String,
    their_key: (&'static str, String),
    our_url: String,
    our_key: String,
}

impl Setting {
    fn lines(&self, lines: impl IntoIterator<Item = Value>) {
        let lines: Vec<String> = lines.into_iter().map(|line| line.to_string()).collect();
        fs::write(self.path("texts.ndjson"), lines.join("\n")).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn start(&self, options: &[&str]) -> Child {
        let (variable, key) = &self.their_key;
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatehouse"));
        unset(&mut command);
        command
            .args(["thresholds", "--from", self.from])
            .args(["--url", &self.our_url, "--their-url", &self.their_url])
            .arg("--file")
            .arg(self.path("texts.ndjson"))
            .args(options)
            .env("GATEHOUSE_SITE_KEY", &self.our_key)
            .env(variable, key)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    async fn run(&self, options: &[&str]) -> Ran {
        self.ended(self.start(options)).await
    }

    async fn ended(&self, child: Child) -> Ran {
        let output = tokio::task::spawn_blocking(|| child.wait_with_output().unwrap());
        let Output {
            status,
            stdout,
            stderr,
        } = output.await.unwrap();
        let ran = Ran {
            code: status.code(),
            output: String::from_utf8(stdout).unwrap(),
            said: String::from_utf8(stderr).unwrap(),
        };
        for key in [&self.their_key.1, &self.our_key] {
            assert!(!ran.said.contains(key.as_str()), "a key is printed");
            assert!(!ran.output.contains(key.as_str()), "a key is printed");
        }
        ran
    }
}

#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    output: String,
    said: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.output).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

fn category<'a>(report: &'a Value, name: &str) -> &'a Value {
    let categories = report["categories"].as_array().unwrap();
    let found = categories.iter().find(|row| row["category"] == name);
    found.unwrap_or_else(|| panic!("{report} has no {name}"))
}

/// A real service, and a server that answers as `OpenAI`.
async fn from_openai(mode: Mode) -> (DataDir, Up, FakeProvider, Setting) {
    let theirs = FakeProvider::openai(mode).await;
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    let setting = Setting {
        directory: tempfile::tempdir().unwrap(),
        from: "openai",
        their_url: format!("http://{}/v1", theirs.address()),
        their_key: ("OPENAI_API_KEY", FakeProvider::KEY.to_owned()),
        our_url: up.origin(),
        our_key: up.demo().site_key.clone(),
    };
    (data, up, theirs, setting)
}

/// Every third text is violent for them. Of these, every second is violent for us.
fn violent_and_others(texts: usize) -> impl Iterator<Item = Value> {
    (1..=texts).map(|number| {
        let said = if number.is_multiple_of(6) {
            "I will stab you and cut your throat"
        } else {
            "A fine day for a walk by the river"
        };
        let theirs = if number.is_multiple_of(3) {
            FakeProvider::VIOLENT
        } else {
            "calm"
        };
        json!({ "body": format!("{said}, {theirs} {number}"), "app_media_id": "ignored" })
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_threshold_here_selects_as_many_texts_as_theirs_does() {
    let (_data, _up, theirs, setting) = from_openai(Mode::Limited("3")).await;
    setting.lines(violent_and_others(63).chain([
        json!({ "content_url": "https://example.com/picture.png" }),
        json!(["no", "object"]),
    ]));
    let running = setting.start(&["--json", "--threshold", "violence=0.9"]);
    eventually("it was limited", SOON, async || {
        (theirs.asked() > 0).then_some(())
    })
    .await;
    theirs.answer(Mode::Well);
    let ran = setting.ended(running).await;
    assert_eq!(ran.code, Some(2), "one line is invalid: {ran:?}");
    // Four lines are sent at the same time.
    assert!(
        ran.said
            .contains(", OpenAI: 429 Too Many Requests; trying again in 3 s"),
        "it does as Retry-After says: {}",
        ran.said
    );
    assert_eq!(theirs.last()["model"], "omni-moderation-latest");

    let report = ran.json();
    assert_eq!(report["complete"], true);
    assert_eq!(report["texts"], 63);
    assert_eq!(report["skipped"]["no_text"], 1);
    assert_eq!(report["skipped"]["invalid"], 1);
    let violence = category(&report, "violence");
    assert_eq!(violence["their_threshold"], 0.9);
    assert_eq!(violence["texts"], 63);
    assert_eq!(violence["few_texts"], false);
    let selected = |name: &str| violence["selected"][name].as_u64().unwrap();
    assert_eq!(selected("theirs"), 21);
    assert!(
        selected("both") >= 10,
        "all that both find violent: {violence}"
    );
    assert_eq!(selected("both") + selected("only_ours"), selected("ours"));
    let threshold = violence["our_threshold"].as_f64().unwrap();
    assert!(threshold > 0.0 && threshold < 0.9, "{violence}");
    // Their score of a calm text is 0.01, and no text has more for the others.
    assert_eq!(category(&report, "hate")["why"], "none_reaches");
    // No text reaches it there, and none has a score here.
    let threatening = category(&report, "hate/threatening");
    assert_eq!(threatening["why"], "not_scored_here");
    assert_eq!(threatening["their_threshold"], 0.5);
}

#[tokio::test(flavor = "multi_thread")]
async fn scores_that_are_kept_are_not_asked_for_again() {
    let (_data, _up, theirs, setting) = from_openai(Mode::Well).await;
    setting.lines(violent_and_others(12));
    let scores = setting.path("scores.ndjson");
    let kept = ["--json", "--scores", scores.to_str().unwrap()];
    let first = setting.run(&kept).await;
    assert_eq!(first.code, Some(0), "{first:?}");
    assert_eq!(theirs.asked(), 12);
    let file = fs::read_to_string(&scores).unwrap();
    assert_eq!(file.lines().count(), 12);
    assert!(!file.contains("river"), "it has no texts");
    let few = first.json();
    assert_eq!(category(&few, "violence")["few_texts"], true, "{few}");

    // Their scores of all texts reach this threshold.
    let again = setting
        .run(&[&kept[..], &["--threshold", "violence=0.01"]].concat())
        .await;
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_eq!(theirs.asked(), 12, "nothing was sent");
    assert_eq!(category(&again.json(), "violence")["selected"]["both"], 12);

    // Only Gatehouse is asked again, and the file has the new scores.
    let again = setting.run(&[&kept[..], &["--again-here"]].concat()).await;
    assert_eq!(again.json(), few, "{again:?}");
    assert_eq!(theirs.asked(), 12, "nothing was sent there");
    let file = fs::read_to_string(&scores).unwrap();
    assert_eq!(file.lines().count(), 24);

    // The file has other texts now.
    setting.lines(violent_and_others(12).skip(1));
    let other = setting.run(&kept).await;
    assert_eq!(other.code, Some(1), "{other:?}");
    assert!(other.said.contains("choose another file"), "{other:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_or_a_wrong_name_ends_it_at_once() {
    let (_data, _up, theirs, mut setting) = from_openai(Mode::Well).await;
    setting.lines(violent_and_others(12));
    let ran = setting
        .run(&["--threshold", "hat=0.7", "--connections", "1"])
        .await;
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.said.contains("OpenAI has no score for hat"), "{ran:?}");
    assert!(ran.said.contains("hate/threatening"), "{ran:?}");
    assert!(theirs.asked() < 4, "{} were asked", theirs.asked());

    setting.our_key = SITE_KEY.to_owned();
    let ran = setting.run(&["--connections", "1"]).await;
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let said = "Gatehouse refuses with 401 (invalid_api_key)";
    assert!(ran.said.contains(said), "{ran:?}");

    setting.their_key.1 = "sk-of-somebody-else".to_owned();
    let ran = setting.run(&[]).await;
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let said = "OpenAI refuses with 401 (invalid_api_key)";
    assert!(ran.said.contains(said), "{ran:?}");
    assert_eq!(ran.output, "");
}

/// Our side of Perspective: a server that speaks its format, in the place of our compatible endpoint. It knows fewer attributes.
async fn ours_for_perspective() -> (FakePerspective, String) {
    let attributes = ["TOXICITY", "INSULT", "THREAT"];
    let path = "/compat/perspective/v1alpha1/comments:analyze";
    let ours = FakePerspective::start(path, SITE_KEY, &attributes, "our:").await;
    (ours, SITE_KEY.to_owned())
}

/// Two servers that answer as Perspective.
async fn from_perspective() -> (FakePerspective, FakePerspective, Setting) {
    let attributes = [
        "TOXICITY",
        "SEVERE_TOXICITY",
        "IDENTITY_ATTACK",
        "INSULT",
        "PROFANITY",
        "THREAT",
        "FLIRTATION",
    ];
    let path = "/v1alpha1/comments:analyze";
    let theirs = FakePerspective::start(path, PERSPECTIVE_KEY, &attributes, "their:").await;
    let (ours, our_key) = ours_for_perspective().await;
    let setting = Setting {
        directory: tempfile::tempdir().unwrap(),
        from: "perspective",
        their_url: theirs.url(),
        their_key: ("PERSPECTIVE_API_KEY", PERSPECTIVE_KEY.to_owned()),
        our_url: ours.url(),
        our_key,
    };
    (theirs, ours, setting)
}

/// A text that gets these scores for a threat.
fn threat(theirs: f64, ours: f64) -> Value {
    json!({ "body": format!("a text their:THREAT={theirs} our:THREAT={ours} end") })
}

#[tokio::test(flavor = "multi_thread")]
async fn thresholds_of_perspective_are_translated() {
    let (theirs, ours, setting) = from_perspective().await;
    theirs.limit(&[Some("3")]);
    setting.lines([
        threat(0.9, 0.41),
        threat(0.8, 0.21),
        threat(0.7, 0.09),
        threat(0.3, 0.33),
        threat(0.2, 0.05),
        json!({ "body": "konnichiwa" }),
        json!({ "body": "long ".repeat(5_000) }),
    ]);
    let ran = setting
        .run(&[
            "--json",
            "--their-rate=100",
            "--threshold=THREAT=0.7",
            "--threshold=FLIRTATION=0.6",
            "--threshold=SPAM=0.4",
        ])
        .await;
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let limited = "Perspective: 429 Too Many Requests; trying again in 3 s";
    assert!(ran.said.contains(limited), "{ran:?}");
    let report = ran.json();
    assert_eq!(report["texts"], 5);
    assert_eq!(
        report["skipped"]["refused_there"],
        json!({ "COMMENT_TOO_LONG": 1, "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE": 1 })
    );
    // 0.21 is the third score here, and 0.09 the fourth.
    assert_eq!(
        *category(&report, "THREAT"),
        json!({
            "category": "THREAT",
            "their_threshold": 0.7,
            "our_threshold": 0.15,
            "texts": 5,
            "selected": {
                "theirs": 3, "ours": 3, "both": 2, "only_theirs": 1, "only_ours": 1, "neither": 1,
            },
            "share_of_theirs": 2.0 / 3.0,
            "share_of_ours": 2.0 / 3.0,
            "few_texts": true,
        })
    );
    let flirtation = category(&report, "FLIRTATION");
    assert_eq!(flirtation["their_threshold"], 0.6);
    assert_eq!(flirtation["why"], "not_scored_here");
    assert_eq!(category(&report, "PROFANITY")["why"], "not_scored_here");
    assert_eq!(category(&report, "SPAM")["why"], "not_scored_there");
    assert_eq!(category(&report, "TOXICITY")["why"], "none_reaches");
    assert!(
        !ours.asked().iter().any(|text| text.contains("konnichiwa")),
        "what they refuse is not sent here"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_endpoint_answers_as_theirs_does() {
    let (_theirs, _ours, mut setting) = from_perspective().await;
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    (setting.our_url, setting.our_key) = (up.origin(), up.demo().site_key.clone());
    setting.lines([
        json!({ "body": "I will stab you and cut your throat their:THREAT=0.9 1" }),
        json!({ "body": "I will stab you and cut your throat their:THREAT=0.8 2" }),
        json!({ "body": "A fine day for a walk by the river their:THREAT=0.1 3" }),
    ]);
    let ran = setting.run(&["--json", "--their-rate", "100"]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report = ran.json();
    let selected = &category(&report, "THREAT")["selected"];
    assert_eq!(selected["both"], 2, "{report}");
    assert_eq!(selected["neither"], 1, "{report}");
    assert_eq!(category(&report, "PROFANITY")["why"], "not_scored_here");
    // The removals of the items, which are not kept.
    up.leaves_jobs();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_says_what_it_rests_on() {
    let (_theirs, _ours, setting) = from_perspective().await;
    setting.lines((1..=4).map(|text| threat(f64::from(text) / 5.0, f64::from(text) / 10.0)));
    let ran = setting.run(&["--their-rate", "100"]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for line in [
        "4 texts have the scores of Perspective and of Gatehouse.\n",
        concat!(
            "THREAT  ",
            "    0.5",
            "  0.25",
            "      4",
            "                  2, 2",
            "     2",
            "           0",
            "          0",
            "      100 %",
            "    100 %\n"
        ),
        "\nTHREAT: the figures rest on few texts. Only 2 reach your threshold.\n",
        "\nPROFANITY: never scored here.",
    ] {
        assert!(ran.output.contains(line), "{line:?}: {}", ran.output);
    }
    assert!(ran.said.contains("which may charge for them"), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_an_interrupt_it_prints_what_it_has() {
    let (theirs, _ours, setting) = from_perspective().await;
    setting.lines((1..=100).map(|text| threat(0.9, f64::from(text) / 200.0)));
    // The second text waits for longer than the test.
    theirs.limit(&[None, Some("1000")]);
    let running = setting.start(&["--json", "--their-rate", "100", "--connections", "1"]);
    eventually("the second text is limited", SOON, async || {
        (theirs.requests() == 2).then_some(())
    })
    .await;
    let process = Pid::from_raw(running.id().try_into().unwrap()).unwrap();
    kill_process(process, Signal::INT).unwrap();
    let ran = setting.ended(running).await;
    assert_eq!(ran.code, Some(130), "{ran:?}");
    let report = ran.json();
    assert_eq!(report["complete"], false);
    assert_eq!(report["texts"], 1);
    assert_eq!(category(&report, "THREAT")["our_threshold"], 0.005);
}
