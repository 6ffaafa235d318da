//! A provider behind TLS.

use std::{fs, path::Path, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinSet},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, crypto::ring, pki_types::PrivateKeyDer},
};

use super::port_of;
use crate::support::FakeProvider;

/// The same provider behind TLS, under a name that only its certificate contains. Returns the port,
/// and writes the authority's certificate.
pub(super) async fn behind_tls(provider: &FakeProvider, authority: &Path) -> (u16, AbortHandle) {
    let made = rcgen::generate_simple_self_signed(["provider.test".to_owned()]).unwrap();
    let certificate = STANDARD.encode(made.cert.der());
    let file = format!("-----BEGIN CERTIFICATE-----\n{certificate}\n-----END CERTIFICATE-----\n");
    fs::write(authority, file).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let behind = port_of(provider);
    let server = tokio::spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            connections.spawn(async move {
                let mut client = acceptor.accept(stream).await.ok()?;
                let mut server = TcpStream::connect(("127.0.0.1", behind)).await.ok()?;
                copy_bidirectional(&mut client, &mut server).await.ok()
            });
        }
    });
    (port, server.abort_handle())
}
