//! The runtime of the servers that tests start in their own process.
//!
//! A test often blocks its own thread: while a command runs, and while its last jobs end. The servers
//! have to answer meanwhile, so they run in another thread.

use std::io;
use std::sync::LazyLock;

use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

static SERVERS: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().unwrap()
});

/// Listens on a free port of this machine.
pub(crate) async fn listen() -> TcpListener {
    let listening = SERVERS.spawn(TcpListener::bind("127.0.0.1:0"));
    let listener: io::Result<TcpListener> = listening.await.unwrap();
    listener.unwrap()
}

/// A socket that is bound, so that nobody else gets its port, and does not listen.
pub(crate) fn nobody() -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    socket
}

/// Runs a server until it is aborted.
pub(crate) fn run(server: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    SERVERS.spawn(server).abort_handle()
}
