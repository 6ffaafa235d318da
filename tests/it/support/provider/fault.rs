//! Faults of servers: in the connection, in HTTP, and in the body. Each is sent by hand, because no
//! server library sends such answers.

mod all;
mod malformed_bodies;
mod stream;

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::Shown;
use super::wire::Wire;
use stream::{drip, hang, reset, respond, respond_error};

pub(crate) use all::{RIGHT, UNSCORED};
pub(super) use malformed_bodies::Shape;
pub(super) use stream::{refuse, request};

/// 64 MiB of zeros.
const BOMB: &[u8] = include_bytes!("../../../fixtures/bomb.gz");
/// The address at which clouds give machines their credentials.
const METADATA: &str = "http://169.254.169.254/latest/meta-data/iam/security-credentials/";
/// The pause between two pieces of an endless answer.
const MORE: Duration = Duration::from_millis(1);

/// A fault in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The connection is closed before anything was read.
    ClosedAtOnce,
    /// The connection is reset after the request was read.
    Reset,
    /// Nothing is sent.
    Hang,
    /// These bytes are sent, and then the connection ends.
    Bytes(&'static [u8]),
    /// The first text is sent once, then the second again and again.
    Endless(&'static str, &'static str),
    /// Half of the announced body is sent, and then the connection ends.
    CutOff,
    /// The same, and then a reset.
    ResetInBody,
    /// The body is longer than announced.
    ShortLength,
    /// `Content-Length` has this value.
    Length(&'static str),
    /// There are two different lengths.
    TwoLengths,
    /// One byte of the answer is sent per second.
    Drip,
    /// One byte of the body is sent per second.
    DripBody,
    /// There are this many headers.
    Headers(usize),
    /// The body is sent in chunks, but the last chunk is never sent.
    OpenChunks,
    /// The same, and then the connection ends.
    CutChunks,
    /// The body is compressed, although the request did not allow it.
    Bomb,
    /// The right answer follows these bytes.
    After(&'static str),
    /// The right answer for calm content follows an error.
    Behind,
    /// A redirect to another address.
    Redirect(u16, &'static str),
    /// A redirect to the same address.
    Loop(u16),
    /// An error of this status, with these headers.
    Error(u16, &'static [(&'static str, &'static str)]),
    /// A body with this status.
    Body(u16, Shape),
}

impl Fault {
    /// A body without an end.
    pub(crate) const ENDLESS: Self =
        Self::Endless("HTTP/1.1 200 OK\r\n\r\n", "{\"a\":[1,2,3,4,5],");
    /// A body of brackets.
    pub(crate) const DEEP: Self = Self::Body(200, Shape::Deep(200_000));
    /// A redirect to the address at which clouds give machines their credentials.
    pub(crate) const METADATA: Self = Self::Redirect(307, METADATA);

    /// Whether it is a fault in this format. Llama Guard's score is a logarithm, which may be
    /// negative.
    pub(crate) fn is_for(self, wire: Wire) -> bool {
        wire != Wire::LlamaGuard || self != Self::Body(200, Shape::Score("-0.5"))
    }

    /// Answers a correct request.
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
                let (headers, length) = (numbered(count), well.len());
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

/// This many headers, each with another name.
fn numbered(count: usize) -> String {
    let mut headers = String::new();
    for n in 0..count {
        write!(headers, "X-{n}: {n}\r\n").unwrap();
    }
    headers
}
