//! All faults, and what may come of each.

use super::{Fault, METADATA, Shape};

/// What may come of a fault: the reason of an error; or no score, and no error; or the score that is right.
pub(crate) type Ends = &'static [&'static str];
/// There is an answer without the score.
pub(crate) const UNSCORED: &str = "unscored";
/// The score is right: the answer is odd, and nothing is wrong with what it says.
pub(crate) const RIGHT: &str = "right";

const MALFORMED: Ends = &["malformed"];
const AWAY: Ends = &["unreachable"];
const LATE: Ends = &["timed_out"];
const ENDLESS: Ends = &["timed_out", "unreachable", "malformed"];
const REFUSED: Ends = &["refused"];
const DENIED: Ends = &["denied"];
const LIMITED: Ends = &["limited"];
const FAILED: Ends = &["failed"];

impl Fault {
    /// All of them, with what may come of each.
    pub(crate) const ALL: &[(&'static str, Self, Ends)] = &[
        // The connection.
        ("closed at once", Self::ClosedAtOnce, AWAY),
        ("reset", Self::Reset, AWAY),
        ("hang", Self::Hang, LATE),
        (
            "closed in the head",
            Self::Bytes(b"HTTP/1.1 200 OK\r\nContent-Le"),
            AWAY,
        ),
        ("cut off", Self::CutOff, AWAY),
        ("reset in the body", Self::ResetInBody, AWAY),
        ("drip", Self::Drip, LATE),
        ("drip in the body", Self::DripBody, LATE),
        ("TLS", Self::Bytes(&[0x15, 3, 3, 0, 2, 2, 0x46]), AWAY),
        ("SSH", Self::Bytes(b"SSH-2.0-OpenSSH_9.6\r\n"), AWAY),
        // HTTP.
        (
            "no head",
            Self::Bytes(b"{\"scores\":{\"violence\":0}}"),
            AWAY,
        ),
        ("no status", Self::Bytes(b"HTTP/1.1 okay\r\n\r\n{}"), AWAY),
        (
            "status 999",
            Self::Bytes(b"HTTP/1.1 999 \r\nContent-Length: 2\r\n\r\n{}"),
            &["refused", "failed"],
        ),
        ("short length", Self::ShortLength, MALFORMED),
        ("negative length", Self::Length("-1"), AWAY),
        ("length of words", Self::Length("many"), AWAY),
        (
            "huge length",
            Self::Length("18446744073709551615"),
            &["unreachable", "malformed"],
        ),
        ("long length", Self::Length("999999"), AWAY),
        ("two lengths", Self::TwoLengths, AWAY),
        (
            "endless header",
            Self::Endless("HTTP/1.1 200 OK\r\nX: ", "xxxxxxxxxxxxxxxx"),
            ENDLESS,
        ),
        (
            "endless headers",
            Self::Endless("HTTP/1.1 200 OK\r\n", "X: x\r\n"),
            ENDLESS,
        ),
        ("endless body", Self::ENDLESS, ENDLESS),
        (
            "endless chunks",
            Self::Endless(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                "4\r\n[[[[\r\n",
            ),
            ENDLESS,
        ),
        (
            "endless error",
            Self::Endless("HTTP/1.1 500 Oh\r\n\r\n", "sorry, sorry, sorry, "),
            &["failed", "timed_out"],
        ),
        (
            "endless hints",
            Self::Endless("", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
            ENDLESS,
        ),
        ("5,000 headers", Self::Headers(5_000), AWAY),
        ("open chunks", Self::OpenChunks, LATE),
        ("cut chunks", Self::CutChunks, AWAY),
        (
            "bad chunk",
            Self::Bytes(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
            ),
            AWAY,
        ),
        (
            "huge chunk",
            Self::Bytes(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}",
            ),
            AWAY,
        ),
        ("bomb", Self::Bomb, MALFORMED),
        (
            "100 and nothing",
            Self::Bytes(b"HTTP/1.1 100 Continue\r\n\r\n"),
            AWAY,
        ),
        (
            "100 and right",
            Self::After("HTTP/1.1 100 Continue\r\n\r\n"),
            &[RIGHT],
        ),
        (
            "103 and right",
            Self::After("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
            &[RIGHT],
        ),
        (
            "101",
            Self::Bytes(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
            ),
            &["unreachable", "refused", "malformed"],
        ),
        ("right behind an error", Self::Behind, FAILED),
        ("301 to metadata", Self::Redirect(301, METADATA), REFUSED),
        ("302 to metadata", Self::Redirect(302, METADATA), REFUSED),
        ("303 to metadata", Self::Redirect(303, METADATA), REFUSED),
        ("307 to metadata", Self::METADATA, REFUSED),
        ("308 to metadata", Self::Redirect(308, METADATA), REFUSED),
        (
            "307 to a file",
            Self::Redirect(307, "file:///etc/passwd"),
            REFUSED,
        ),
        ("308 to itself", Self::Loop(308), REFUSED),
        ("304", Self::Error(304, &[]), REFUSED),
        // Statuses.
        ("204", Self::Error(204, &[]), MALFORMED),
        ("206", Self::Body(206, Shape::Whole), &[RIGHT]),
        ("400", Self::Error(400, &[]), REFUSED),
        ("401", Self::Error(401, &[]), DENIED),
        ("402", Self::Error(402, &[]), DENIED),
        ("403", Self::Error(403, &[]), DENIED),
        ("404", Self::Error(404, &[]), DENIED),
        ("405", Self::Error(405, &[]), REFUSED),
        ("408", Self::Error(408, &[]), FAILED),
        ("409", Self::Error(409, &[]), REFUSED),
        ("413", Self::Error(413, &[]), REFUSED),
        ("422", Self::Error(422, &[]), REFUSED),
        ("429", Self::Error(429, &[]), LIMITED),
        (
            "429 for no time",
            Self::Error(429, &[("retry-after", "0")]),
            LIMITED,
        ),
        (
            "429 for nonsense",
            Self::Error(429, &[("retry-after", "soon")]),
            LIMITED,
        ),
        (
            "429 for less than no time",
            Self::Error(429, &[("retry-after", "-5")]),
            LIMITED,
        ),
        (
            "429 for a fraction",
            Self::Error(429, &[("retry-after-ms", "12")]),
            LIMITED,
        ),
        (
            "429 for ever",
            Self::Error(429, &[("retry-after", "99999999999999999999")]),
            LIMITED,
        ),
        (
            "429 until yesterday",
            Self::Error(429, &[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")]),
            LIMITED,
        ),
        ("500", Self::Error(500, &[]), FAILED),
        ("502", Self::Error(502, &[]), FAILED),
        ("503", Self::Error(503, &[("retry-after", "1")]), LIMITED),
        ("504", Self::Error(504, &[]), FAILED),
        ("529", Self::Error(529, &[]), FAILED),
        // Bodies that are not JSON.
        ("empty", Self::Body(200, Shape::Text("")), MALFORMED),
        ("spaces", Self::Body(200, Shape::Text("  \r\n ")), MALFORMED),
        (
            "HTML",
            Self::Body(200, Shape::Text("<!doctype html><title>busy</title>")),
            MALFORMED,
        ),
        ("truncated", Self::Body(200, Shape::Truncated), MALFORMED),
        ("marked", Self::Body(200, Shape::Marked), MALFORMED),
        ("UTF-16", Self::Body(200, Shape::Utf16), MALFORMED),
        (
            "bad UTF-8",
            Self::Body(200, Shape::BadUtf8),
            &["malformed", UNSCORED],
        ),
        ("deep", Self::DEEP, MALFORMED),
        (
            "long text",
            Self::Body(200, Shape::Long(900_000)),
            MALFORMED,
        ),
        ("too long", Self::Body(200, Shape::Late(2 << 20)), MALFORMED),
        (
            "behind spaces",
            Self::Body(200, Shape::Late(900_000)),
            &[RIGHT],
        ),
        (
            "something behind",
            Self::Body(200, Shape::Before("}")),
            MALFORMED,
        ),
        ("twice", Self::Body(200, Shape::Again), MALFORMED),
        ("a script", Self::Body(200, Shape::Script), MALFORMED),
        // JSON that is no answer.
        ("{}", Self::Body(200, Shape::Text("{}")), MALFORMED),
        ("[]", Self::Body(200, Shape::Text("[]")), MALFORMED),
        ("null", Self::Body(200, Shape::Text("null")), MALFORMED),
        ("a number", Self::Body(200, Shape::Text("0")), MALFORMED),
        (
            "a text",
            Self::Body(200, Shape::Text("\"safe\"")),
            MALFORMED,
        ),
        ("true", Self::Body(200, Shape::Text("true")), MALFORMED),
        (
            "error in a 200",
            Self::Body(200, Shape::Error),
            &["malformed", "failed", "refused", "denied", "limited"],
        ),
        ("half", Self::Body(200, Shape::Half), MALFORMED),
        (
            "foreign",
            Self::Body(200, Shape::Foreign),
            &["malformed", UNSCORED],
        ),
        ("twin", Self::Body(200, Shape::Twin), &["malformed", RIGHT]),
        ("a member twice", Self::Body(200, Shape::Twice), MALFORMED),
        // Scores that are none.
        ("NaN", Self::Body(200, Shape::Score("NaN")), MALFORMED),
        (
            "Infinity",
            Self::Body(200, Shape::Score("-Infinity")),
            MALFORMED,
        ),
        ("1e999", Self::Body(200, Shape::Score("1e999")), MALFORMED),
        ("over 1", Self::Body(200, Shape::Score("150.5")), MALFORMED),
        (
            "negative",
            Self::Body(200, Shape::Score("-0.5")),
            &["malformed", RIGHT],
        ),
        (
            "far below",
            Self::Body(200, Shape::Score("-1e300")),
            MALFORMED,
        ),
        (
            "long number",
            Self::Body(
                200,
                Shape::Score("99999999999999999999999999999999999999999999"),
            ),
            MALFORMED,
        ),
        (
            "null score",
            Self::Body(200, Shape::Score("null")),
            &["malformed", UNSCORED],
        ),
        (
            "score in a text",
            Self::Body(200, Shape::Score("'0.01'")),
            MALFORMED,
        ),
        (
            "score true",
            Self::Body(200, Shape::Score("false")),
            MALFORMED,
        ),
        (
            "score in a list",
            Self::Body(200, Shape::Score("[0.01]")),
            MALFORMED,
        ),
        (
            "score in an object",
            Self::Body(200, Shape::Score("{}")),
            MALFORMED,
        ),
    ];
}
