//! Two kinds of programs that look at `/readyz`: clients that know all processes, and a balancer
//! that passes connections on to the processes in turn.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::{interval, timeout},
};

use super::client::Client;
use crate::support::{SOON, eventually};

const LOOK_EVERY: Duration = Duration::from_secs(1);
const READYZ: &str = "GET /readyz HTTP/1.1\r\nHost: test\r\n\r\n";

/// Servers, and whether each was ready when it was last checked.
pub(super) struct Fleet {
    servers: Vec<(SocketAddr, AtomicBool)>,
    turn: AtomicUsize,
}

impl Fleet {
    /// Checks `/readyz` of each server once per second, as long as the fleet is used.
    pub(super) fn watched(addresses: Vec<SocketAddr>) -> Arc<Self> {
        let servers = addresses.into_iter();
        let fleet = Arc::new(Self {
            servers: servers.map(|one| (one, AtomicBool::new(true))).collect(),
            turn: AtomicUsize::new(0),
        });
        for place in 0..fleet.servers.len() {
            let fleet = Arc::downgrade(&fleet);
            tokio::spawn(async move {
                let mut looks = interval(LOOK_EVERY);
                loop {
                    looks.tick().await;
                    let Some(fleet) = fleet.upgrade() else {
                        return;
                    };
                    let (address, ready) = &fleet.servers[place];
                    let mut client = Client::new(*address);
                    let answer = timeout(LOOK_EVERY, client.send(READYZ)).await;
                    ready.store(matches!(answer, Ok(Ok(200))), Ordering::Relaxed);
                }
            });
        }
        fleet
    }

    /// One server that is never checked.
    pub(super) fn unwatched(address: SocketAddr) -> Arc<Self> {
        Arc::new(Self {
            servers: vec![(address, AtomicBool::new(true))],
            turn: AtomicUsize::new(0),
        })
    }

    /// Waits until all servers were ready when they were last checked.
    pub(super) async fn until_ready(&self) {
        eventually("all are ready", SOON, async || {
            let mut servers = self.servers.iter();
            servers
                .all(|(_, ready)| ready.load(Ordering::Relaxed))
                .then_some(())
        })
        .await;
    }

    pub(super) fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.servers.iter().map(|(address, _)| *address)
    }

    /// The index of the next ready server. If none is ready: of the next server.
    pub(super) fn next(&self) -> usize {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let count = self.servers.len();
        let mut places = (turn..turn + count).map(|place| place % count);
        let ready = places.find(|place| self.servers[*place].1.load(Ordering::Relaxed));
        ready.unwrap_or(turn % count)
    }
}

/// Passes connections on to the ready servers in turn. It repeats nothing.
pub(super) struct Balancer {
    pub(super) address: SocketAddr,
    task: JoinHandle<()>,
}

impl Balancer {
    pub(super) async fn start(fleet: Arc<Fleet>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move {
            loop {
                let (mut near, _) = listener.accept().await.unwrap();
                let (server, _) = fleet.servers[fleet.next()];
                tokio::spawn(async move {
                    let mut far = TcpStream::connect(server).await?;
                    copy_bidirectional(&mut near, &mut far).await
                });
            }
        });
        Self { address, task }
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.task.abort();
    }
}
