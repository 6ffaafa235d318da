//! What servers do that is no answer: to the connection, to HTTP, and to the body. Each is sent by hand, because no library for
//! servers would.

use std::io;
use std::time::Duration;

use hyper::http::request::Parts;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::wire::Wire;
use super::{Refusal, Shown};

/// 64 MiB of zeros.
const BOMB: &[u8] = include_bytes!("../../../fixtures/bomb.gz");
/// Where clouds tell machines their secrets.
const METADATA: &str = "http://169.254.169.254/latest/meta-data/iam/security-credentials/";
/// How often a server says something that says nothing.
const MORE: Duration = Duration::from_millis(1);
/// How long it takes for a byte.
const DRIP: Duration = Duration::from_secs(1);

/// What is wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The connection is closed, and nothing was read.
    ClosedAtOnce,
    /// It is reset when the request was read.
    Reset,
    /// Nothing comes.
    Hang,
    /// These bytes come, and then the end.
    Bytes(&'static [u8]),
    /// These come again and again.
    Endless(&'static str, &'static str),
    /// Half of the body that was announced comes, and then the end.
    CutOff,
    /// The same, and then a reset.
    ResetInBody,
    /// The body is longer than was announced.
    ShortLength,
    /// The length is this.
    Length(&'static str),
    /// There are two lengths.
    TwoLengths,
    /// A byte of the answer comes each second.
    Drip,
    /// A byte of the body does.
    DripBody,
    /// There are so many headers.
    Headers(usize),
    /// The body comes in chunks, of which the last one never does.
    OpenChunks,
    /// The same, and then the end.
    CutChunks,
    /// A body comes compressed, although nobody asked for that.
    Bomb,
    /// The right answer comes after these bytes.
    After(&'static str),
    /// The right answer to something calm comes behind an error.
    Behind,
    /// The answer is to be had elsewhere.
    Redirect(u16, &'static str),
    /// The answer is to be had here, for who asks again.
    Loop(u16),
    /// An error of this status, with these headers.
    Error(u16, &'static [(&'static str, &'static str)]),
    /// With this status a body.
    Body(u16, Shape),
}

/// A body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// As documented.
    Whole,
    /// This text.
    Text(&'static str),
    /// Two thirds of what is documented.
    Truncated,
    /// What is documented, after a byte order mark.
    Marked,
    /// The same in UTF-16.
    Utf16,
    /// A byte in it is no UTF-8.
    BadUtf8,
    /// Brackets in brackets, so many.
    Deep(usize),
    /// A text of so many bytes.
    Long(usize),
    /// What is documented, behind so many spaces.
    Late(usize),
    /// This instead of the score.
    Score(&'static str),
    /// The score is there twice: the right one, and that of something calm.
    Twice,
    /// Where there is a list of results, those for something calm are in it, too.
    Twin,
    /// Half of what was asked for.
    Half,
    /// About other categories.
    Foreign,
    /// An error.
    Error,
    /// What is documented, and this behind it.
    Before(&'static str),
    /// What is documented, twice.
    Again,
    /// What is documented, in a call of a function.
    Script,
}

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
    /// A body without an end.
    pub(crate) const ENDLESS: Self =
        Self::Endless("HTTP/1.1 200 OK\r\n\r\n", "{\"a\":[1,2,3,4,5],");
    /// A body of brackets.
    pub(crate) const DEEP: Self = Self::Body(200, Shape::Deep(200_000));
    /// A redirection to where clouds tell machines their secrets.
    pub(crate) const METADATA: Self = Self::Redirect(307, METADATA);

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

    /// Whether it is one for this format: Llama Guard's score is a logarithm.
    pub(crate) fn is_for(self, wire: Wire) -> bool {
        wire != Wire::LlamaGuard || self != Self::Body(200, Shape::Score("-0.5"))
    }

    /// Answers a request that is as it should be.
    pub(super) async fn answer(
        self,
        wire: Wire,
        shown: &Shown,
        stream: &mut TcpStream,
    ) -> io::Result<()> {
        let well = wire.well(shown).to_string();
        let head = |length: usize| format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
        let half = &well.as_bytes()[..well.len() / 2];
        match self {
            Self::ClosedAtOnce => {}
            Self::Reset => reset(stream)?,
            Self::Hang => hang().await,
            Self::Bytes(bytes) => stream.write_all(bytes).await?,
            Self::Endless(once, again) => {
                stream.write_all(once.as_bytes()).await?;
                let again = again.repeat(4_096 / again.len());
                loop {
                    stream.write_all(again.as_bytes()).await?;
                    sleep(MORE).await;
                }
            }
            Self::CutOff | Self::ResetInBody => {
                stream.write_all(head(well.len()).as_bytes()).await?;
                stream.write_all(half).await?;
                if self == Self::ResetInBody {
                    stream.flush().await?;
                    sleep(Duration::from_millis(50)).await;
                    reset(stream)?;
                }
            }
            Self::ShortLength => {
                stream.write_all(head(half.len()).as_bytes()).await?;
                stream.write_all(well.as_bytes()).await?;
            }
            Self::Length(length) => {
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{well}");
                stream.write_all(head.as_bytes()).await?;
            }
            Self::TwoLengths => {
                let (all, some) = (well.len(), half.len());
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {all}\r\nContent-Length: {some}\r\n\r\n{well}"
                );
                stream.write_all(answer.as_bytes()).await?;
            }
            Self::Drip => drip(stream, &(head(well.len()) + &well)).await?,
            Self::DripBody => {
                stream.write_all(head(well.len()).as_bytes()).await?;
                drip(stream, &well).await?;
            }
            Self::Headers(count) => {
                let headers: String = (0..count).map(|n| format!("X-{n}: {n}\r\n")).collect();
                let length = well.len();
                let answer =
                    format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {length}\r\n\r\n{well}");
                stream.write_all(answer.as_bytes()).await?;
            }
            Self::OpenChunks | Self::CutChunks => {
                let length = well.len();
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n{well}\r\n"
                );
                stream.write_all(answer.as_bytes()).await?;
                if self == Self::OpenChunks {
                    hang().await;
                }
            }
            Self::Bomb => {
                let length = BOMB.len();
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {length}\r\n\r\n"
                );
                stream.write_all(head.as_bytes()).await?;
                stream.write_all(BOMB).await?;
            }
            Self::After(before) => {
                let answer = format!("{before}{}{well}", head(well.len()));
                stream.write_all(answer.as_bytes()).await?;
            }
            Self::Behind => {
                let calm = wire.well(&shown.calm()).to_string();
                let answer = format!(
                    "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n{}{calm}",
                    head(calm.len())
                );
                stream.write_all(answer.as_bytes()).await?;
            }
            Self::Redirect(status, location) => {
                respond(stream, status, &[("location", location)], well.as_bytes()).await?;
            }
            Self::Loop(status) => {
                let here = format!("http://{}/", stream.local_addr()?);
                respond(stream, status, &[("location", &here)], b"").await?;
            }
            Self::Error(status, headers) => {
                respond_error(stream, wire, status, headers, "on_purpose").await?;
            }
            Self::Body(status, shape) => {
                let body = shape.of(wire, shown, &well);
                respond(stream, status, &[], &body).await?;
            }
        }
        Ok(())
    }
}

impl Shape {
    fn of(self, wire: Wire, shown: &Shown, well: &str) -> Vec<u8> {
        let place = wire.place(shown.is_text());
        let right = format!("{}{}", place.key, place.high);
        match self {
            Self::Whole => well.into(),
            Self::Text(text) => text.into(),
            Self::Truncated => well[..well.len() * 2 / 3].into(),
            Self::Marked => format!("\u{feff}{well}").into(),
            Self::Utf16 => well.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::BadUtf8 => {
                let mut bytes = well.as_bytes().to_vec();
                let at = well.rfind(&place.key).unwrap_or(2) + place.key.len() / 2;
                bytes[at] = 0xff;
                bytes
            }
            Self::Deep(depth) => "[".repeat(depth).into(),
            Self::Long(length) => format!("\"{}\"", "x".repeat(length)).into(),
            Self::Late(spaces) => (" ".repeat(spaces) + well).into(),
            Self::Score(score) => {
                // Within a text of JSON, quotes would end it.
                let quote = if place.key.contains('\\') {
                    "\\\""
                } else {
                    "\""
                };
                let score = score.replace('\'', quote);
                well.replace(&right, &format!("{}{score}", place.key))
                    .into()
            }
            Self::Twice => {
                let both = format!("{right},{}{}", place.key, place.low);
                well.replace(&right, &both).into()
            }
            Self::Twin => {
                let mut answer = wire.well(shown);
                let calm = wire.well(&shown.calm());
                for (name, list) in answer.as_object_mut().unwrap() {
                    if let (Value::Array(list), Value::Array(calm)) = (list, &calm[name]) {
                        list.extend(calm.iter().cloned());
                    }
                }
                answer.to_string().into()
            }
            Self::Half => wire.half(shown).into(),
            Self::Foreign => wire.foreign(shown).to_string().into(),
            Self::Error => wire.error(500, "on_purpose").to_string().into(),
            Self::Before(rest) => format!("{well}{rest}").into(),
            Self::Again => format!("{well}\n{well}").into(),
            Self::Script => format!("callback({well});").into(),
        }
    }
}

/// Reads a request from a connection.
pub(super) async fn request(stream: &mut TcpStream) -> io::Result<(Parts, Vec<u8>)> {
    let mut bytes = Vec::new();
    let head = loop {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            break bytes.drain(..end + 4).collect::<Vec<u8>>();
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    };
    let head = String::from_utf8(head).map_err(io::Error::other)?;
    let mut lines = head.trim_end().split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let mut request = hyper::Request::builder()
        .method(first.next().unwrap_or_default())
        .uri(first.next().unwrap_or_default());
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(io::ErrorKind::InvalidData)?;
        request = request.header(name, value.trim());
    }
    let (parts, ()) = request.body(()).map_err(io::Error::other)?.into_parts();
    let length = parts.headers.get("content-length");
    let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    let length: usize = length.ok_or(io::ErrorKind::InvalidData)?;
    while bytes.len() < length {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok((parts, bytes))
}

pub(super) async fn refuse(
    stream: &mut TcpStream,
    wire: Wire,
    Refusal(status, code): Refusal,
) -> io::Result<()> {
    respond_error(stream, wire, status, &[], code).await
}

async fn respond_error(
    stream: &mut TcpStream,
    wire: Wire,
    status: u16,
    headers: &[(&str, &str)],
    code: &str,
) -> io::Result<()> {
    let body = match status {
        204 | 304 => String::new(),
        _ => wire.error(status, code).to_string(),
    };
    let own = wire.error_header().map(|name| (name, code));
    let headers: Vec<_> = headers.iter().copied().chain(own).collect();
    respond(stream, status, &headers, body.as_bytes()).await
}

async fn respond(
    stream: &mut TcpStream,
    status: u16,
    headers: &[(&str, &str)],
    body: &[u8],
) -> io::Result<()> {
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let length = match status {
        204 | 304 => String::new(),
        _ => format!("Content-Length: {}\r\n", body.len()),
    };
    let head = format!("HTTP/1.1 {status} S\r\n{headers}{length}\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await
}

async fn drip(stream: &mut TcpStream, text: &str) -> io::Result<()> {
    for byte in text.bytes() {
        stream.write_all(&[byte]).await?;
        sleep(DRIP).await;
    }
    Ok(())
}

async fn hang() {
    std::future::pending().await
}

/// Ends the connection with a reset when it is dropped.
fn reset(stream: &TcpStream) -> io::Result<()> {
    rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO))?;
    Ok(())
}
