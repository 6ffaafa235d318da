//! How the time to judge a text grows with its length, for ordinary texts and for texts that are
//! made to cost time.

use std::time::{Duration, Instant};

use domain::rules::CompiledGroup;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    engine::{Engine as _, group, ours},
    patterns::{Literals, Patterns},
    texts,
};
use crate::report::Line;

const SIZES: [usize; 5] = [1_000, 3_000, 10_000, 30_000, 100_000];
/// Each point is the median of the texts that are judged in this time, at least three.
const POINT: Duration = Duration::from_millis(400);

/// A point of a curve.
#[derive(Debug, Serialize)]
pub(super) struct Point {
    curve: &'static str,
    bytes: usize,
    /// For each byte of the text.
    nanos: f64,
}

/// Rules, and the texts that they judge.
struct Curve {
    name: &'static str,
    group: CompiledGroup,
    text: Box<dyn Fn(usize) -> String>,
}

pub(super) fn measure(seed: u64, quick: bool) -> anyhow::Result<Vec<Point>> {
    let mut points = Vec::new();
    for curve in curves(seed)? {
        eprintln!("{}", curve.name);
        for bytes in if quick { &SIZES[..2] } else { &SIZES[..] } {
            let text = (curve.text)(*bytes);
            curve.group.matches(&text);
            let nanos = median(&curve.group, &text);
            points.push(Point {
                curve: curve.name,
                bytes: *bytes,
                nanos,
            });
        }
    }
    Ok(points)
}

#[expect(clippy::cast_precision_loss, reason = "texts are short")]
fn median(group: &CompiledGroup, text: &str) -> f64 {
    let mut times = Vec::new();
    let begun = Instant::now();
    while times.len() < 3 || begun.elapsed() < POINT {
        let started = Instant::now();
        group.matches(text);
        times.push(started.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2].as_nanos() as f64 / text.len() as f64
}

fn curves(seed: u64) -> anyhow::Result<Vec<Curve>> {
    let all = Patterns::new(seed, 10_000, 1_000, Literals::Most);
    let without = Patterns::new(seed, 0, 1_000, Literals::None);
    let ordinary = move |bytes| texts::ordinary(seed, 1, bytes, &[]).concat();
    let of = |part: &'static str| move |bytes| part.repeat(bytes / part.len());
    let nested: Vec<String> = (1..=100).map(|length| "a".repeat(length)).collect();
    let exceptions: Vec<String> = (0..1_000).map(|number| format!("a{number}a")).collect();
    let keywords = |matching: &str, keywords: &[String], exceptions: &[String]| {
        json!({"name": "k", "type": "keyword", "matching": matching, "keywords": keywords,
            "exceptions": exceptions, "effect": "review"})
    };
    let regex = |pattern: &str| json!({"name": "r", "type": "regex", "pattern": pattern, "effect": "review"});
    let curve = |name, documents: Vec<Value>, text: Box<dyn Fn(usize) -> String>| {
        anyhow::Ok(Curve {
            name,
            group: group(documents.into_iter())?.0,
            text,
        })
    };
    Ok(vec![
        Curve {
            name: "ordinary text, 10,000 keywords and 1,000 regexes",
            group: ours(&all)?.0,
            text: Box::new(ordinary),
        },
        Curve {
            name: "every word disguised, the same rules",
            group: ours(&all)?.0,
            text: Box::new(of("b.l-o c k 1d10t st|_|pid sc*am fr33 looooser ")),
        },
        Curve {
            name: "ordinary text, 1,000 regexes without literals",
            group: ours(&without)?.0,
            text: Box::new(ordinary),
        },
        curve(
            "all words nearly match: 100 nested keywords",
            vec![keywords("whole_word", &nested, &[])],
            Box::new(of("aaaaaaaaaaab")),
        )?,
        curve(
            "every match excused by one of 1,000 exceptions",
            vec![keywords("substring", &["a5".to_owned()], &exceptions)],
            Box::new(of("a5a ")),
        )?,
        curve(
            "a catastrophic pattern: (a+)+$",
            vec![regex("(a+)+$")],
            Box::new(of("aaaaaaaaaaaaaaab")),
        )?,
        curve(
            "an explosive pattern: (a|b)*a(a|b){30}c",
            vec![regex("(a|b)*a(a|b){30}c")],
            Box::new(of("abbabaaabbbababbaab")),
        )?,
    ])
}

pub(super) fn lines(points: &[Point]) -> Vec<Line> {
    let mut lines = vec![Line::heading(format!(
        "Nanoseconds for each byte of texts of {SIZES:?} bytes"
    ))];
    for curve in points.chunk_by(|one, other| one.curve == other.curve) {
        let figures: Vec<_> = curve
            .iter()
            .map(|point| format!("{:7.1}", point.nanos))
            .collect();
        lines.push(Line::fact(curve[0].curve, figures.join(" ")));
    }
    lines
}
