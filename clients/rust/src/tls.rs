//! Verifies HTTPS servers with the platform's certificate authorities, by rustls on ring.

use std::sync::Arc;

use reqwest::ClientBuilder;
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::error::Error;

/// Without certificate authorities on the machine, it fails only if they are `needed`: plain HTTP works
/// without.
pub(crate) fn with_tls(http: ClientBuilder, needed: bool) -> Result<ClientBuilder, Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(setup)?;
    let config = match builder.clone().with_platform_verifier() {
        Ok(verified) => verified.with_no_client_auth(),
        Err(error) if needed => return Err(setup(error)),
        Err(_) => builder
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth(),
    };
    Ok(http.tls_backend_preconfigured(config))
}

fn setup(error: rustls::Error) -> Error {
    Error::Setup(error.into())
}
