//! The client that `build.rs` generated.

include!(concat!(env!("OUT_DIR"), "/gatehouse.rs"));
