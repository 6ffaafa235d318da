//! The queue's protocols, checked exhaustively: every state that a small system can reach keeps every promise,
//! and each mechanism is needed, because without it the checker finds a schedule that breaks one.

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
