//! The HTTP interface of Gatehouse.
