//! What servers do that is no answer: to the connection, to HTTP, and to the body. Each is sent by hand, because no library for
//! servers would.

mod all;
mod shape;
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
pub(super) use shape::Shape;
pub(super) use stream::{refuse, request};

/// 64 MiB of zeros.
const BOMB: &[u8] = include_bytes!("../../../fixtures/bomb.gz");
/// Where clouds tell machines their secrets.
const METADATA: &str = "http://169.254.169.254/latest/meta-data/iam/security-credentials/";
/// How often a server says something that says nothing.
const MORE: Duration = Duration::from_millis(1);

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
    /// The answer is at another address.
    Redirect(u16, &'static str),
    /// The answer is at this address, for a second request.
    Loop(u16),
    /// An error of this status, with these headers.
    Error(u16, &'static [(&'static str, &'static str)]),
    /// With this status a body.
    Body(u16, Shape),
}

impl Fault {
    /// A body without an end.
    pub(crate) const ENDLESS: Self =
        Self::Endless("HTTP/1.1 200 OK\r\n\r\n", "{\"a\":[1,2,3,4,5],");
    /// A body of brackets.
    pub(crate) const DEEP: Self = Self::Body(200, Shape::Deep(200_000));
    /// A redirection to where clouds tell machines their secrets.
    pub(crate) const METADATA: Self = Self::Redirect(307, METADATA);

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

/// So many headers, each with a name of its own.
fn numbered(count: usize) -> String {
    let mut headers = String::new();
    for n in 0..count {
        write!(headers, "X-{n}: {n}\r\n").unwrap();
    }
    headers
}
