//! The models through their public interface: against what other programs compute from the same
//! files, and on damaged files.

mod damage;
mod encoder;
mod files;
mod linear;
mod nudity;
