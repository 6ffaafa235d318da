//! A receiver on a real socket that answers as a test tells it to.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Listens on every IPv4 address of the machine until dropped with its runtime.
pub(super) struct Receiver {
    pub(super) port: u16,
    connections: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Receiver {
    /// Answers every request on a connection with the same bytes.
    pub(super) async fn answering(answer: impl AsRef<[u8]>) -> Self {
        let answer: Arc<[u8]> = answer.as_ref().into();
        Self::start(move |mut stream, requests| {
            let answer = Arc::clone(&answer);
            async move {
                while let Some(request) = read_request(&mut stream).await {
                    requests.lock().unwrap().push(request);
                    if stream.write_all(&answer).await.is_err() {
                        break;
                    }
                }
            }
        })
        .await
    }

    /// Answers a request by its path. `PORT` in an answer is the receiver's own.
    pub(super) async fn start_with(
        answer: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> Self {
        let answer = Arc::new(answer);
        Self::start(move |mut stream, requests| {
            let answer = Arc::clone(&answer);
            async move {
                let port = stream.local_addr().unwrap().port().to_string();
                while let Some(request) = read_request(&mut stream).await {
                    let path = request.split(' ').nth(1).unwrap();
                    let answer = answer(path).replace("PORT", &port);
                    requests.lock().unwrap().push(request);
                    if stream.write_all(answer.as_bytes()).await.is_err() {
                        break;
                    }
                }
            }
        })
        .await
    }

    /// Hands each connection, after its first request, to `behaviour`.
    pub(super) async fn behaving<F>(
        behaviour: impl Fn(TcpStream) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let behaviour = Arc::new(behaviour);
        Self::start(move |mut stream, requests| {
            let behaviour = Arc::clone(&behaviour);
            async move {
                if let Some(request) = read_request(&mut stream).await {
                    requests.lock().unwrap().push(request);
                    behaviour(stream).await;
                }
            }
        })
        .await
    }

    async fn start<F>(
        handle: impl Fn(TcpStream, Arc<Mutex<Vec<String>>>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)))
            .await
            .unwrap();
        let port = listener.local_addr().unwrap().port();
        let (connections, open) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let receiver = Self {
            port,
            connections: connections.clone(),
            open: open.clone(),
            requests: requests.clone(),
        };
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                connections.fetch_add(1, Ordering::SeqCst);
                open.fetch_add(1, Ordering::SeqCst);
                let (handling, open) = (handle(stream, requests.clone()), open.clone());
                tokio::spawn(async move {
                    handling.await;
                    open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        receiver
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// How many of them have not ended.
    pub(super) fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }

    /// The head of each request, with lower-case names.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Reads one request, with a body `{}` if it is a POST; `None` when the connection ended.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    while !(read.ends_with(b"\r\n\r\n{}")
        || read.starts_with(b"GET") && read.ends_with(b"\r\n\r\n"))
    {
        read.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8(read).unwrap().to_lowercase())
}
