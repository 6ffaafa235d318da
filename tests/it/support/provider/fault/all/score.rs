//! Scores that are no numbers between the lowest and the highest.

use super::{Ends, Fault, MALFORMED, RIGHT, UNSCORED};
use crate::support::provider::fault::Shape;

pub(super) const SCORE: &[(&str, Fault, Ends)] = &[
    ("NaN", Fault::Body(200, Shape::Score("NaN")), MALFORMED),
    (
        "Infinity",
        Fault::Body(200, Shape::Score("-Infinity")),
        MALFORMED,
    ),
    ("1e999", Fault::Body(200, Shape::Score("1e999")), MALFORMED),
    ("over 1", Fault::Body(200, Shape::Score("150.5")), MALFORMED),
    (
        "negative",
        Fault::Body(200, Shape::Score("-0.5")),
        &["malformed", RIGHT],
    ),
    (
        "far below",
        Fault::Body(200, Shape::Score("-1e300")),
        MALFORMED,
    ),
    (
        "long number",
        Fault::Body(
            200,
            Shape::Score("99999999999999999999999999999999999999999999"),
        ),
        MALFORMED,
    ),
    (
        "null score",
        Fault::Body(200, Shape::Score("null")),
        &["malformed", UNSCORED],
    ),
    (
        "score in a text",
        Fault::Body(200, Shape::Score("'0.01'")),
        MALFORMED,
    ),
    (
        "score true",
        Fault::Body(200, Shape::Score("false")),
        MALFORMED,
    ),
    (
        "score in a list",
        Fault::Body(200, Shape::Score("[0.01]")),
        MALFORMED,
    ),
    (
        "score in an object",
        Fault::Body(200, Shape::Score("{}")),
        MALFORMED,
    ),
];
