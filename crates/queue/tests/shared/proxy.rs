//! Stands between a process and Postgres and misbehaves as told: cuts or holds a connection before
//! or after a certain message, loses notifications.
//!
//! It knows of the protocol only where a message ends, and needs `sslmode=disable`. It lives in a
//! thread of its own, so that a test that blocks does not stop it.

use std::{
    collections::BTreeMap,
    io,
    net::TcpListener as StdListener,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, sink},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};

/// What happens to the connection on which the awaited message comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trap {
    /// It is cut; the server never sees the message.
    CutBefore,
    /// It is cut once the server has answered; the client never sees the answer.
    CutAfter,
    /// It goes silent until the client ends it; the server never sees the message.
    HoldBefore,
    /// It goes silent once the server has answered, until the client ends it.
    HoldAfter,
}

/// A proxy that lives as long as the process.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

/// A trap that is set. It springs on a message with the last of these texts, on a connection on
/// which messages with the texts before it have come, in this order.
struct Set {
    texts: Vec<String>,
    trap: Trap,
    /// How many of the texts have come on each connection, by its number.
    seen: BTreeMap<usize, usize>,
}

#[derive(Default)]
struct Shared {
    trap: Mutex<Option<Set>>,
    sprung: AtomicBool,
    deaf: AtomicBool,
    lost: AtomicUsize,
}

impl Proxy {
    /// Starts one in front of this server.
    pub(crate) fn start(host: &str, port: u16) -> Self {
        let listener = StdListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            shared: Arc::default(),
        };
        let server = format!("{host}:{port}");
        let shared = proxy.shared.clone();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(serve(listener, server, shared));
        });
        proxy
    }

    /// Sets the trap for the next message with the last of these texts, on a connection on which
    /// messages with those before it have come, in this order.
    pub(crate) fn set(&self, texts: &[&str], trap: Trap) {
        let texts = texts.iter().map(|&text| text.to_owned()).collect();
        self.shared.sprung.store(false, SeqCst);
        *self.shared.trap() = Some(Set {
            texts,
            trap,
            seen: BTreeMap::new(),
        });
    }

    /// Whether the trap has sprung; one that waits for the server's answer, once that is there.
    pub(crate) fn has_sprung(&self) -> bool {
        self.shared.sprung.load(SeqCst)
    }

    /// Loses every notification from now on.
    pub(crate) fn lose_notifications(&self) {
        self.shared.deaf.store(true, SeqCst);
    }

    /// How many notifications were lost.
    pub(crate) fn lost_notifications(&self) -> usize {
        self.shared.lost.load(SeqCst)
    }
}

impl Shared {
    fn trap(&self) -> std::sync::MutexGuard<'_, Option<Set>> {
        self.trap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The trap, if this message of the connection with this number springs it.
    fn spring(&self, connection: usize, message: &[u8]) -> Option<Trap> {
        let mut trap = self.trap();
        let set = trap.as_mut()?;
        let seen = set.seen.entry(connection).or_default();
        let text = set.texts[*seen].as_bytes();
        *seen += usize::from(message.windows(text.len()).any(|window| window == text));
        let springs = *seen == set.texts.len();
        springs.then(|| trap.take()).flatten().map(|set| set.trap)
    }
}

async fn serve(listener: StdListener, server: String, shared: Arc<Shared>) {
    let listener = TcpListener::from_std(listener).unwrap();
    for connection in 0.. {
        let Ok((client, _)) = listener.accept().await else {
            return;
        };
        if let Ok(server) = TcpStream::connect(&server).await {
            tokio::spawn(pass(connection, client, server, shared.clone()));
        }
    }
}

/// How answers are treated: passed on, or what the trap that has sprung wants.
const PASS: u8 = 0;
const CUT: u8 = 1;
const HOLD: u8 = 2;

async fn pass(connection: usize, client: TcpStream, server: TcpStream, shared: Arc<Shared>) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let answers = AtomicU8::new(PASS);
    // Whichever ends first takes the connection with it.
    tokio::select! {
        _ = pass_questions(connection, from_client, to_server, &shared, &answers) => {}
        _ = pass_answers(from_server, to_client, &shared, &answers) => {}
    }
}

async fn pass_questions(
    connection: usize,
    mut client: OwnedReadHalf,
    mut server: OwnedWriteHalf,
    shared: &Shared,
    answers: &AtomicU8,
) -> io::Result<()> {
    // The first message has no tag.
    let mut message = read_message(&mut client, 0).await?;
    loop {
        match shared.spring(connection, &message) {
            None => {}
            Some(Trap::CutAfter) => answers.store(CUT, SeqCst),
            Some(Trap::HoldAfter) => answers.store(HOLD, SeqCst),
            Some(Trap::CutBefore) => {
                shared.sprung.store(true, SeqCst);
                return Ok(());
            }
            Some(Trap::HoldBefore) => {
                shared.sprung.store(true, SeqCst);
                tokio::io::copy(&mut client, &mut sink()).await?;
                return Ok(());
            }
        }
        server.write_all(&message).await?;
        message = read_message(&mut client, 1).await?;
    }
}

async fn pass_answers(
    mut server: OwnedReadHalf,
    mut client: OwnedWriteHalf,
    shared: &Shared,
    answers: &AtomicU8,
) -> io::Result<()> {
    loop {
        let message = read_message(&mut server, 1).await?;
        let manner = answers.load(SeqCst);
        // ReadyForQuery: the statement has ended, with its transaction when there is none around
        // it.
        if manner != PASS && message.first() == Some(&b'Z') {
            shared.sprung.store(true, SeqCst);
            if manner == CUT {
                return Ok(());
            }
        }
        if message.first() == Some(&b'A') && shared.deaf.load(SeqCst) {
            shared.lost.fetch_add(1, SeqCst);
        } else if manner == PASS {
            client.write_all(&message).await?;
        }
    }
}

/// One message: a tag of that many bytes, the length of the rest in four bytes that count
/// themselves, the rest.
async fn read_message(stream: &mut OwnedReadHalf, tag: usize) -> io::Result<Vec<u8>> {
    let mut message = vec![0; tag + 4];
    stream.read_exact(&mut message).await?;
    let length = u32::from_be_bytes(message[tag..].try_into().expect("four bytes"));
    let length = usize::try_from(length).map_err(io::Error::other)?;
    message.resize(tag + length.max(4), 0);
    stream.read_exact(&mut message[tag + 4..]).await?;
    Ok(message)
}
