//! The queue's protocols, checked exhaustively. Every state that a small system can reach keeps
//! every promise. Each mechanism is needed: without it, the checker finds a schedule that breaks a
//! promise.

mod action;
mod caps;
mod checker;
mod transitions;
mod job_lifecycle;
mod preclaimed;
mod generations;
mod configuration;
mod invariants;
mod protocol;
mod rotation;
mod visibility;
mod state;
mod fairness;
mod write;
