//! Bodies that are no JSON, or JSON that is no answer.

use super::{Ends, Fault, MALFORMED, RIGHT, UNSCORED};
use crate::support::provider::fault::Shape;

pub(super) const BODY: &[(&str, Fault, Ends)] = &[
    ("empty", Fault::Body(200, Shape::Text("")), MALFORMED),
    (
        "spaces",
        Fault::Body(200, Shape::Text("  \r\n ")),
        MALFORMED,
    ),
    (
        "HTML",
        Fault::Body(200, Shape::Text("<!doctype html><title>busy</title>")),
        MALFORMED,
    ),
    ("truncated", Fault::Body(200, Shape::Truncated), MALFORMED),
    ("marked", Fault::Body(200, Shape::Marked), MALFORMED),
    ("UTF-16", Fault::Body(200, Shape::Utf16), MALFORMED),
    (
        "bad UTF-8",
        Fault::Body(200, Shape::BadUtf8),
        &["malformed", UNSCORED],
    ),
    ("deep", Fault::DEEP, MALFORMED),
    (
        "long text",
        Fault::Body(200, Shape::Long(900_000)),
        MALFORMED,
    ),
    (
        "too long",
        Fault::Body(200, Shape::Late(2 << 20)),
        MALFORMED,
    ),
    (
        "behind spaces",
        Fault::Body(200, Shape::Late(900_000)),
        &[RIGHT],
    ),
    (
        "something behind",
        Fault::Body(200, Shape::Before("}")),
        MALFORMED,
    ),
    ("twice", Fault::Body(200, Shape::Again), MALFORMED),
    ("a script", Fault::Body(200, Shape::Script), MALFORMED),
    // JSON that is no answer.
    ("{}", Fault::Body(200, Shape::Text("{}")), MALFORMED),
    ("[]", Fault::Body(200, Shape::Text("[]")), MALFORMED),
    ("null", Fault::Body(200, Shape::Text("null")), MALFORMED),
    ("a number", Fault::Body(200, Shape::Text("0")), MALFORMED),
    (
        "a text",
        Fault::Body(200, Shape::Text("\"safe\"")),
        MALFORMED,
    ),
    ("true", Fault::Body(200, Shape::Text("true")), MALFORMED),
    (
        "error in a 200",
        Fault::Body(200, Shape::Error),
        &["malformed", "failed", "refused", "denied", "limited"],
    ),
    ("half", Fault::Body(200, Shape::Half), MALFORMED),
    (
        "foreign",
        Fault::Body(200, Shape::Foreign),
        &["malformed", UNSCORED],
    ),
    ("twin", Fault::Body(200, Shape::Twin), &["malformed", RIGHT]),
    ("a member twice", Fault::Body(200, Shape::Twice), MALFORMED),
];
