//! The queue's protocols, checked exhaustively. Every state that a small system can reach keeps
//! every promise. Each mechanism is needed: without it, the checker finds a schedule that breaks a
//! promise.

mod action;
mod caps;
mod checker;
mod choices;
mod delivery;
mod eager;
mod generations;
mod mechanism;
mod promise;
mod protocol;
mod rotation;
mod sight;
mod state;
mod turns;
mod write;
