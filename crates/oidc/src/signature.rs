//! Verifies signatures with ring, which is here for TLS already. The library for tokens brings no cryptography of its own:
//! its choices are a crate with an unfixed advisory (RUSTSEC-2023-0071), or a second C library.

use jsonwebtoken::{
    Algorithm, DecodingKey, DecodingKeyKind,
    crypto::{CryptoProvider, JwkUtils, JwtSigner, JwtVerifier},
    errors::{ErrorKind, Result, new_error},
    signature::{Error, Verifier},
};
use ring::signature::{
    self as of_ring, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey,
    VerificationAlgorithm,
};

/// The algorithms that an ID token may be signed with. `none` is not even one that the library knows, and with `HS256` the
/// client's secret would sign, which others may know.
pub(crate) const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

static RING: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| refuse::<Box<dyn JwtSigner>>(),
    verifier_factory: verifier,
    jwk_utils: JwkUtils::new_unimplemented(),
};

/// Has the library verify with ring from now on. Later calls change nothing.
pub(crate) fn install() {
    let _installed_before = RING.install_default();
}

fn refuse<T>() -> Result<T> {
    Err(new_error(ErrorKind::InvalidAlgorithm))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the library calls it so")]
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    if !ALGORITHMS.contains(algorithm) || key.family() != algorithm.family() {
        return refuse();
    }
    Ok(Box::new(Verifies {
        algorithm: *algorithm,
        key: key.clone(),
    }))
}

/// Verifies signatures of one key.
struct Verifies {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl Verifies {
    fn rsa(&self, parameters: &RsaParameters, message: &[u8], signature: &[u8]) -> Option<()> {
        let DecodingKeyKind::RsaModulusExponent { n, e } = self.key.kind() else {
            return None;
        };
        let key = RsaPublicKeyComponents { n, e };
        key.verify(parameters, message, signature).ok()
    }

    fn other(
        &self,
        algorithm: &'static dyn VerificationAlgorithm,
        message: &[u8],
        signature: &[u8],
    ) -> Option<()> {
        let DecodingKeyKind::SecretOrDer(bytes) = self.key.kind() else {
            return None;
        };
        let key = UnparsedPublicKey::new(algorithm, bytes);
        key.verify(message, signature).ok()
    }
}

impl Verifier<Vec<u8>> for Verifies {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        let rsa = |parameters| self.rsa(parameters, message, signature);
        let other = |algorithm| self.other(algorithm, message, signature);
        let verified = match self.algorithm {
            Algorithm::RS256 => rsa(&of_ring::RSA_PKCS1_2048_8192_SHA256),
            Algorithm::RS384 => rsa(&of_ring::RSA_PKCS1_2048_8192_SHA384),
            Algorithm::RS512 => rsa(&of_ring::RSA_PKCS1_2048_8192_SHA512),
            Algorithm::PS256 => rsa(&of_ring::RSA_PSS_2048_8192_SHA256),
            Algorithm::PS384 => rsa(&of_ring::RSA_PSS_2048_8192_SHA384),
            Algorithm::PS512 => rsa(&of_ring::RSA_PSS_2048_8192_SHA512),
            Algorithm::ES256 => other(&of_ring::ECDSA_P256_SHA256_FIXED),
            Algorithm::ES384 => other(&of_ring::ECDSA_P384_SHA384_FIXED),
            Algorithm::EdDSA => other(&of_ring::ED25519),
            Algorithm::HS256 | Algorithm::HS384 | Algorithm::HS512 => None,
        };
        verified.ok_or_else(Error::new)
    }
}

impl JwtVerifier for Verifies {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

#[cfg(test)]
mod tests;
