//! Faults of HTTP: heads, lengths, chunks, hints and redirects.

use super::{AWAY, ENDLESS, Ends, FAILED, Fault, LATE, MALFORMED, REFUSED, RIGHT};
use crate::support::provider::fault::METADATA;

pub(super) const HTTP: &[(&str, Fault, Ends)] = &[
    (
        "no head",
        Fault::Bytes(b"{\"scores\":{\"violence\":0}}"),
        AWAY,
    ),
    ("no status", Fault::Bytes(b"HTTP/1.1 okay\r\n\r\n{}"), AWAY),
    (
        "status 999",
        Fault::Bytes(b"HTTP/1.1 999 \r\nContent-Length: 2\r\n\r\n{}"),
        &["refused", "failed"],
    ),
    ("short length", Fault::ShortLength, MALFORMED),
    ("negative length", Fault::Length("-1"), AWAY),
    ("length of words", Fault::Length("many"), AWAY),
    (
        "huge length",
        Fault::Length("18446744073709551615"),
        &["unreachable", "malformed"],
    ),
    ("long length", Fault::Length("999999"), AWAY),
    ("two lengths", Fault::TwoLengths, AWAY),
    (
        "endless header",
        Fault::Endless("HTTP/1.1 200 OK\r\nX: ", "xxxxxxxxxxxxxxxx"),
        ENDLESS,
    ),
    (
        "endless headers",
        Fault::Endless("HTTP/1.1 200 OK\r\n", "X: x\r\n"),
        ENDLESS,
    ),
    ("endless body", Fault::ENDLESS, ENDLESS),
    (
        "endless chunks",
        Fault::Endless(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "4\r\n[[[[\r\n",
        ),
        ENDLESS,
    ),
    (
        "endless error",
        Fault::Endless("HTTP/1.1 500 Oh\r\n\r\n", "sorry, sorry, sorry, "),
        &["failed", "timed_out"],
    ),
    (
        "endless hints",
        Fault::Endless("", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
        ENDLESS,
    ),
    ("5,000 headers", Fault::Headers(5_000), AWAY),
    ("open chunks", Fault::OpenChunks, LATE),
    ("cut chunks", Fault::CutChunks, AWAY),
    (
        "bad chunk",
        Fault::Bytes(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"),
        AWAY,
    ),
    (
        "huge chunk",
        Fault::Bytes(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}",
        ),
        AWAY,
    ),
    ("bomb", Fault::Bomb, MALFORMED),
    (
        "100 and nothing",
        Fault::Bytes(b"HTTP/1.1 100 Continue\r\n\r\n"),
        AWAY,
    ),
    (
        "100 and right",
        Fault::After("HTTP/1.1 100 Continue\r\n\r\n"),
        &[RIGHT],
    ),
    (
        "103 and right",
        Fault::After("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
        &[RIGHT],
    ),
    (
        "101",
        Fault::Bytes(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
        ),
        &["unreachable", "refused", "malformed"],
    ),
    ("right behind an error", Fault::Behind, FAILED),
    ("301 to metadata", Fault::Redirect(301, METADATA), REFUSED),
    ("302 to metadata", Fault::Redirect(302, METADATA), REFUSED),
    ("303 to metadata", Fault::Redirect(303, METADATA), REFUSED),
    ("307 to metadata", Fault::METADATA, REFUSED),
    ("308 to metadata", Fault::Redirect(308, METADATA), REFUSED),
    (
        "307 to a file",
        Fault::Redirect(307, "file:///etc/passwd"),
        REFUSED,
    ),
    ("308 to itself", Fault::Loop(308), REFUSED),
    ("304", Fault::Error(304, &[]), REFUSED),
];
