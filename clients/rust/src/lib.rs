//! A client of [Gatehouse](https://github.com/gatehouse-dev/gatehouse)'s interface for applications.
//!
//! [`Gatehouse::moderate`] submits content and waits for the verdict. [`verify_webhook`] verifies and
//! reads a webhook. [`document`] has the types of both.
//!
//! ```no_run
//! use gatehouse_client::{Action, Content, Gatehouse};
//!
//! # async fn comment() -> Result<(), gatehouse_client::Error> {
//! let gatehouse = Gatehouse::new("https://moderation.example.com", "site_...")?;
//! let content = Content {
//!     body: Some("Is this seat taken?".to_owned()),
//!     ..Content::default()
//! };
//! let verdict = gatehouse.moderate(&content).await?;
//! if verdict.action == Some(Action::Approve) {
//!     // Show it.
//! }
//! # Ok(())
//! # }
//! ```
//!
//! It runs on Tokio. The feature `rustls` is on by default. It is needed for HTTPS, unless you give
//! [`Gatehouse::with_http`] a client of your own.

#![deny(missing_docs)]

mod client;
#[rustfmt::skip]
pub mod document;
mod error;
mod request;
#[cfg(feature = "rustls")]
mod tls;
mod webhooks;

pub use client::Gatehouse;
pub use document::{Accepted, Action, Content, FieldProblem, MediaStatus, PolledStatus, Verdict};
pub use error::{Error, Refused};
pub use request::{Moderate, Submit};
pub use webhooks::{WebhookError, WebhookPayload, verify_webhook};

/// The README's code compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
