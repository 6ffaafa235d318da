//! Three small models that score content without a key and without a network.
//!
//! [`text::Linear`] scores a text in microseconds, and [`text::Encoder`] scores it better in
//! milliseconds. [`image::Nudity`] tells whether a picture shows nudity. Each reads its weights from
//! one file. Two of the files are part of the program: [`text::linear`] and [`image::open_nsfw`].
//! `models/README.md` says where all files come from, and describes their formats.
//!
//! Nothing here panics on a damaged file or on any text or picture, and nothing waits: a call keeps
//! one processor busy until it returns.

mod damaged;
mod dense;
pub mod image;
mod reader;
pub mod text;

pub use damaged::Damaged;
