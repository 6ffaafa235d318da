//! A process between Gatehouse and the receiver of webhooks, which passes bytes on. It can be
//! killed while the receiver still knows what it got. While it is dead, nobody answers, and its
//! open connections are cut off.

use std::{
    net::SocketAddr,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use clap::Args;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    process::{Child, Command},
};

use crate::processes::free_address;

const READY: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(5);

/// Options of the process.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    listen: SocketAddr,
    to: SocketAddr,
}

/// The process: runs until it is killed.
pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let listener = TcpListener::bind(options.listen).await?;
    loop {
        let (mut near, _) = listener.accept().await?;
        tokio::spawn(async move {
            let mut far = TcpStream::connect(options.to).await?;
            near.set_nodelay(true)?;
            far.set_nodelay(true)?;
            copy_bidirectional(&mut near, &mut far).await
        });
    }
}

/// The process, seen from the program that starts it.
pub(crate) struct Relay {
    options: Options,
    child: Option<Child>,
}

impl Relay {
    /// Starts a relay to this receiver.
    pub(crate) async fn start(to: SocketAddr) -> anyhow::Result<Self> {
        let listen = free_address()?;
        let mut relay = Self {
            options: Options { listen, to },
            child: None,
        };
        relay.revive().await?;
        Ok(relay)
    }

    /// Where it listens.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.options.listen
    }

    /// Kills it with SIGKILL.
    pub(crate) async fn kill(&mut self) -> anyhow::Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill().await?;
        }
        Ok(())
    }

    /// Starts it again on the same address, and waits until it listens.
    pub(crate) async fn revive(&mut self) -> anyhow::Result<()> {
        let Options { listen, to } = &self.options;
        let child = Command::new(std::env::current_exe()?)
            .arg("relay")
            .args([listen.to_string(), to.to_string()])
            .stdin(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .context("the relay does not start")?;
        self.child = Some(child);
        let begun = Instant::now();
        while TcpStream::connect(listen).await.is_err() {
            ensure!(begun.elapsed() < READY, "the relay does not listen");
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }
}
