//! A connection's socket with time limits: for the rest of a request's head, for the client to read
//! an answer, and for an idle connection that others need.
//!
//! hyper has one timer for reading, from the end of an answer to the end of the next head. It
//! cannot distinguish an idle connection from a slow head, so it is used for idle connections only.
//! For writing, it has none.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::{Notify, futures::OwnedNotified},
    time::{Instant, Sleep, sleep_until},
};

/// The time limits of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct SocketTimeouts {
    /// For a whole head, from its first byte. On a new connection, the time begins at once.
    pub(super) head: Duration,
    /// For the client to read an answer that does not fit into the socket's buffers.
    pub(super) answer: Duration,
}

/// How long a connection may be idle between two requests before it can be closed for others.
const BREATH: Duration = Duration::from_secs(1);

/// What we wait for from the client.
enum Owed {
    /// Nothing: it is our turn.
    Nothing,
    /// The rest of a head, by then.
    Head(Instant),
    /// Another request, since then.
    Request(Instant),
    /// Another request, unless somebody else needs the connection.
    RequestOrRoom(Pin<Box<OwnedNotified>>),
}

/// The socket.
pub(super) struct TimedSocket {
    stream: TcpStream,
    timeouts: SocketTimeouts,
    turns: Turns,
    seen_turns: usize,
    owed: Owed,
    /// The time until which the client must read what was written.
    answer: Option<Instant>,
    room: Arc<Notify>,
    reading: Pin<Box<Sleep>>,
    writing: Pin<Box<Sleep>>,
}

impl TimedSocket {
    /// `room` can ask the connection that has been idle for longest to close.
    pub(super) fn new(
        stream: TcpStream,
        timeouts: SocketTimeouts,
        turns: Turns,
        room: Arc<Notify>,
    ) -> Self {
        let head = Instant::now() + timeouts.head;
        Self {
            stream,
            timeouts,
            seen_turns: turns.count(),
            turns,
            owed: Owed::Head(head),
            answer: None,
            room,
            reading: Box::pin(sleep_until(head)),
            writing: Box::pin(sleep_until(head)),
        }
    }

    /// Updates what we wait for, if a turn has ended meanwhile.
    fn follow_turns(&mut self) {
        let turns = self.turns.count();
        if turns == self.seen_turns {
            return;
        }
        self.seen_turns = turns;
        self.owed = if turns % 2 == 1 {
            Owed::Nothing
        } else {
            Owed::Request(Instant::now())
        };
    }

    /// The client has sent something.
    fn heard(&mut self) {
        match self.owed {
            Owed::Nothing | Owed::Head(_) => {}
            Owed::Request(_) | Owed::RequestOrRoom(_) => {
                self.owed = Owed::Head(Instant::now() + self.timeouts.head);
            }
        }
    }

    /// Nothing has arrived yet: decides whether to keep waiting.
    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            match &mut self.owed {
                Owed::Nothing => return Poll::Pending,
                Owed::Head(until) => {
                    ready!(alarm(&mut self.reading, *until, cx));
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
                Owed::Request(since) => {
                    ready!(alarm(&mut self.reading, *since + BREATH, cx));
                    let room = Arc::clone(&self.room).notified_owned();
                    self.owed = Owed::RequestOrRoom(Box::pin(room));
                }
                Owed::RequestOrRoom(room) => {
                    ready!(room.as_mut().poll(cx));
                    // As if the client had closed the connection: between two requests, both sides
                    // may do so.
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }

    /// The result of a write, or an error if the client has been slow for too long.
    fn written<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            return written;
        }
        let timeouts = self.timeouts.answer;
        let until = *self.answer.get_or_insert_with(|| Instant::now() + timeouts);
        ready!(alarm(&mut self.writing, until, cx));
        // The system would try to send the rest for a quarter of an hour.
        self.stream.set_zero_linger()?;
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

/// Ready from `until` on.
fn alarm(sleep: &mut Pin<Box<Sleep>>, until: Instant, cx: &mut Context<'_>) -> Poll<()> {
    if sleep.deadline() != until {
        sleep.as_mut().reset(until);
    }
    sleep.as_mut().poll(cx)
}

impl AsyncRead for TimedSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let paced = &mut *self;
        paced.follow_turns();
        let before = buffer.filled().len();
        match Pin::new(&mut paced.stream).poll_read(cx, buffer) {
            Poll::Ready(result) => {
                if buffer.filled().len() > before {
                    paced.heard();
                }
                Poll::Ready(result)
            }
            Poll::Pending => paced.wait(cx),
        }
    }
}

impl AsyncWrite for TimedSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.written(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.written(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// hyper flushes when it has nothing left to write.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.answer = None;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Whose turn it is on a connection: even while we wait for a request, odd while we work on one.
#[derive(Clone, Default)]
pub(super) struct Turns(Arc<AtomicUsize>);

/// Our turn. Dropping it ends the turn.
pub(super) struct OurTurn(Turns);

impl Turns {
    /// A request has arrived.
    pub(super) fn take(&self) -> OurTurn {
        self.0.fetch_add(1, Ordering::Relaxed);
        OurTurn(self.clone())
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for OurTurn {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }
}
