//! A small HTTP/1.1 client for load. It shares the machine with the measured system, so it does as
//! little as possible. Requests are rendered beforehand. A keep-alive connection sends a request
//! with one write, and reads the answer into a reused buffer.

mod connection;
mod render;
#[cfg(test)]
mod tests;

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use bytes::BytesMut;
use serde::Deserialize;
use tokio::{
    net::{TcpSocket, TcpStream},
    time::timeout,
};

use self::connection::Connection;
pub(crate) use self::render::{
    get, managed, repeatable_submission, status_query, submission, submission_of,
    waiting_submission,
};

/// A request without an answer is given up after this time.
const PATIENCE: Duration = Duration::from_secs(30);
/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The HTTP status code.
    pub(crate) status: u16,
    /// Where a redirect leads.
    pub(crate) location: Option<String>,
    /// The whole body.
    pub(crate) body: BytesMut,
}

impl Answer {
    /// The status, and the problem's code if there is one: `429 rate_limited`.
    pub(crate) fn outcome(&self) -> String {
        let code = match self.status {
            200..300 => None,
            _ => serde_json::from_slice(&self.body)
                .ok()
                .and_then(|problem: Problem| problem.code),
        };
        match code {
            Some(code) => format!("{} {code}", self.status),
            None => self.status.to_string(),
        }
    }
}

#[derive(Deserialize)]
struct Problem {
    code: Option<String>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Silence {
    /// No connection was made, so nothing was sent.
    Unreachable(io::Error),
    /// The connection broke or was given up: the request may or may not have had an effect.
    Broken(io::Error),
}

impl From<Silence> for io::Error {
    fn from(silence: Silence) -> Self {
        match silence {
            Silence::Unreachable(error) | Silence::Broken(error) => error,
        }
    }
}

/// One server, and a connection to it that is kept while it works.
pub(crate) struct Client {
    address: SocketAddr,
    /// The address that it connects from. `None` lets the system choose.
    source: Option<IpAddr>,
    connection: Option<Connection>,
}

impl Client {
    /// Connects with the first request.
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self {
            address,
            source: None,
            connection: None,
        }
    }

    /// Connects from this address of the machine, as another machine would.
    pub(crate) fn coming_from(source: IpAddr, address: SocketAddr) -> Self {
        Self {
            address,
            source: Some(source),
            connection: None,
        }
    }

    /// Sends a rendered request and waits for its answer.
    pub(crate) async fn send(&mut self, request: &[u8]) -> Result<Answer, Silence> {
        let mut connection = match self.connection.take() {
            Some(connection) if connection.is_open() => connection,
            Some(_) | None => Connection::open(self.source, self.address)
                .await
                .map_err(Silence::Unreachable)?,
        };
        let answer = timeout(PATIENCE, connection.exchange(request))
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .map_err(Silence::Broken)?;
        if connection.keeps_alive {
            self.connection = Some(connection);
        }
        Ok(answer)
    }
}

/// Opens a connection, from a given address of this machine or from any.
pub(crate) async fn connect(source: Option<IpAddr>, to: SocketAddr) -> io::Result<TcpStream> {
    let Some(source) = source else {
        return TcpStream::connect(to).await;
    };
    let socket = match source {
        IpAddr::V4(_) => TcpSocket::new_v4()?,
        IpAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.bind(SocketAddr::new(source, 0))?;
    socket.connect(to).await
}
