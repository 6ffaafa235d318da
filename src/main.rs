//! Gatehouse.
fn main() {}
