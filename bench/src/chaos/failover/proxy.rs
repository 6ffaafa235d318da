//! A name that leads to a server, as one in DNS or a proxy does. It can lead to another server for a while; connections that
//! are open stay with the server to which they were opened.

use std::net::SocketAddr;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// Where clients connect, and where that leads.
pub(super) struct Proxy {
    address: SocketAddr,
    leads_to: watch::Sender<SocketAddr>,
}

impl Proxy {
    /// Makes one that leads to this server.
    pub(super) async fn of(server: SocketAddr) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (leads_to, target) = watch::channel(server);
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let server = *target.borrow();
                tokio::spawn(async move {
                    let mut far = TcpStream::connect(server).await?;
                    near.set_nodelay(true)?;
                    far.set_nodelay(true)?;
                    copy_bidirectional(&mut near, &mut far).await
                });
            }
        });
        Ok(Self { address, leads_to })
    }

    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on new connections lead there.
    pub(super) fn lead_to(&self, server: SocketAddr) {
        self.leads_to.send_replace(server);
    }
}
