//! The queue's protocols, checked exhaustively. Every state that a small system can reach keeps
//! every promise. Each mechanism is needed: without it, the checker finds a schedule that breaks a
//! promise.

mod action;
mod caps;
mod checker;
mod configuration;
mod fairness;
mod generations;
mod invariants;
mod job_lifecycle;
mod preclaimed;
mod protocol;
mod rotation;
mod state;
mod transitions;
mod visibility;
mod write;
