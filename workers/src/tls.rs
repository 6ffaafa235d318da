//! How HTTPS servers are verified: against the platform's certificate authorities, with rustls on ring.

use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;
use tracing::warn;

/// The settings shared by all clients: reading the certificate authorities takes a while.
pub(crate) fn client_config() -> ClientConfig {
    static CONFIG: OnceLock<ClientConfig> = OnceLock::new();
    CONFIG.get_or_init(config).clone()
}

/// On a machine without certificate authorities no HTTPS server can be trusted: a warning says so, every such handshake
/// fails, and plain HTTP goes on working.
fn config() -> ClientConfig {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring supports TLS 1.2 and 1.3");
    match builder.clone().with_platform_verifier() {
        Ok(verified) => verified.with_no_client_auth(),
        Err(error) => {
            warn!(%error, "no certificate authorities found, so no HTTPS server can be verified: install ca-certificates");
            builder
                .with_root_certificates(RootCertStore::empty())
                .with_no_client_auth()
        }
    }
}
