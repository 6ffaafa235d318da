//! A proxy between the queue and Postgres that can misbehave on request.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions, PgSslMode},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// A proxy between the queue and Postgres that can misbehave on request.
pub(crate) struct Proxy {
    port: u16,
    /// Refuses and cuts all connections.
    pub(crate) down: Arc<AtomicBool>,
    /// Forwards this many more commits, and cuts the connection before the answer.
    pub(crate) swallow_commits: Arc<AtomicU32>,
}

impl Proxy {
    async fn start(host: String, port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            down: Arc::default(),
            swallow_commits: Arc::default(),
        };
        let (down, swallow) = (proxy.down.clone(), proxy.swallow_commits.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if !down.load(SeqCst) {
                    let server = TcpStream::connect((host.as_str(), port)).await.unwrap();
                    tokio::spawn(pass(client, server, down.clone(), swallow.clone()));
                }
            }
        });
        proxy
    }
}

async fn pass(
    mut client: TcpStream,
    mut server: TcpStream,
    down: Arc<AtomicBool>,
    swallow: Arc<AtomicU32>,
) {
    let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(n @ 1..) = read else { return };
                if server.write_all(&asked[..n]).await.is_err() { return }
                let is_commit = asked[..n].windows(6).any(|word| word == b"COMMIT");
                if is_commit && swallow.fetch_update(SeqCst, SeqCst, |n| n.checked_sub(1)).is_ok() {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(n @ 1..) = read else { return };
                if client.write_all(&answered[..n]).await.is_err() { return }
            }
            () = tokio::time::sleep(Duration::from_millis(10)) => {}
        }
        if down.load(SeqCst) {
            return;
        }
    }
}

/// The same database, seen through a proxy.
pub(crate) async fn through_proxy(pool: &PgPool) -> (Proxy, PgPool) {
    let options: PgConnectOptions = (*pool.connect_options()).clone();
    let proxy = Proxy::start(options.get_host().to_owned(), options.get_port()).await;
    let options = options
        .host("127.0.0.1")
        .port(proxy.port)
        .ssl_mode(PgSslMode::Disable);
    let through = PgPoolOptions::new()
        .max_connections(4)
        .acquire_timeout(Duration::from_secs(1))
        .connect_lazy_with(options);
    (proxy, through)
}
