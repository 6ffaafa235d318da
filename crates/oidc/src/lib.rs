//! `OpenID` Connect as a client: the authorization code flow with PKCE, `state` and `nonce`, at one provider.
//!
//! The crate builds the address that a browser is sent to, redeems the code that comes back, and says who signed in. It
//! trusts nothing of the answers before it is verified. It knows neither accounts nor pages, and stores nothing.

mod sign_in_attempt;
mod document_cache;
mod claims;
mod discovery;
mod error;
mod identity;
mod signing_keys;
mod provider;
mod settings;
mod signature;
mod id_token;
mod http;

pub use sign_in_attempt::{Ask, Attempt};
pub use error::Failed;
pub use identity::Identity;
pub use provider::{Answer, Provider};
pub use settings::{ClientSecret, Issuer, Settings, WrongIssuer};
