//! The queue's protocols, checked exhaustively: every state that a small system can reach keeps every promise,
//! and each mechanism is needed, because without it the checker finds a schedule that breaks one.

mod caps;
mod checker;
mod delivery;
mod eager;
mod generations;
mod protocol;
mod rotation;
mod sight;
mod state;
mod turns;
