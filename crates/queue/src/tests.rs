//! Tests that need the private parts of this crate. They are compiled for tests only.

mod schedules;
