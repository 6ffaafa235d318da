//! Statuses that are no success.

use super::{DENIED, Ends, FAILED, Fault, LIMITED, MALFORMED, REFUSED, RIGHT};
use crate::support::provider::fault::Shape;

pub(super) const STATUS: &[(&str, Fault, Ends)] = &[
    ("204", Fault::Error(204, &[]), MALFORMED),
    ("206", Fault::Body(206, Shape::Whole), &[RIGHT]),
    ("400", Fault::Error(400, &[]), REFUSED),
    ("401", Fault::Error(401, &[]), DENIED),
    ("402", Fault::Error(402, &[]), DENIED),
    ("403", Fault::Error(403, &[]), DENIED),
    ("404", Fault::Error(404, &[]), DENIED),
    ("405", Fault::Error(405, &[]), REFUSED),
    ("408", Fault::Error(408, &[]), FAILED),
    ("409", Fault::Error(409, &[]), REFUSED),
    ("413", Fault::Error(413, &[]), REFUSED),
    ("422", Fault::Error(422, &[]), REFUSED),
    ("429", Fault::Error(429, &[]), LIMITED),
    (
        "429 for no time",
        Fault::Error(429, &[("retry-after", "0")]),
        LIMITED,
    ),
    (
        "429 for nonsense",
        Fault::Error(429, &[("retry-after", "soon")]),
        LIMITED,
    ),
    (
        "429 for less than no time",
        Fault::Error(429, &[("retry-after", "-5")]),
        LIMITED,
    ),
    (
        "429 for a fraction",
        Fault::Error(429, &[("retry-after-ms", "12")]),
        LIMITED,
    ),
    (
        "429 for ever",
        Fault::Error(429, &[("retry-after", "99999999999999999999")]),
        LIMITED,
    ),
    (
        "429 until yesterday",
        Fault::Error(429, &[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")]),
        LIMITED,
    ),
    ("500", Fault::Error(500, &[]), FAILED),
    ("502", Fault::Error(502, &[]), FAILED),
    ("503", Fault::Error(503, &[("retry-after", "1")]), LIMITED),
    ("504", Fault::Error(504, &[]), FAILED),
    ("529", Fault::Error(529, &[]), FAILED),
];
