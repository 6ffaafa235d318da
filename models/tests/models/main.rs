//! The models through their public interface: against what other programs compute from the same
//! files, and on damaged files.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod damage;
mod encoder;
mod files;
mod linear;
mod nudity;
