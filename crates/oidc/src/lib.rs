//! `OpenID` Connect as a client: the authorization code flow with PKCE, `state` and `nonce`, at one provider.
//!
//! The crate builds the address that a browser is sent to, redeems the code that comes back, and says who signed in. It
//! trusts nothing of the answers before it is verified. It knows neither accounts nor pages, and stores nothing.

mod claims;
mod discovery;
mod document_cache;
mod error;
mod http;
mod id_token;
mod identity;
mod provider;
mod settings;
mod sign_in_attempt;
mod signature;

pub use error::Failed;
pub use identity::Identity;
pub use provider::{Answer, Provider};
pub use settings::{ClientSecret, Issuer, Settings, WrongIssuer};
pub use sign_in_attempt::{Ask, Attempt};
