//! Verifies HTTPS servers with the platform's certificate authorities, by rustls on ring.

use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;
use tracing::warn;

/// The settings. All clients share them, because reading the certificate authorities takes a while.
pub fn client_config() -> ClientConfig {
    static CONFIG: OnceLock<ClientConfig> = OnceLock::new();
    CONFIG.get_or_init(config).clone()
}

/// Without certificate authorities on the machine, no HTTPS server can be verified. A warning is
/// logged, every HTTPS handshake fails, and plain HTTP works.
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
