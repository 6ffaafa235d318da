//! The master key of real processes: they refuse to start with a wrong one, and it can be replaced
//! while they run. Each name begins with the number of its case in `docs/reliability.md`.

mod refused;
mod replaced;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::support::{MASTER_KEY, SOON};

const NEW_KEY: [u8; 32] = [9; 32];

fn new_key() -> String {
    STANDARD.encode(NEW_KEY)
}

fn old_key() -> [u8; 32] {
    STANDARD.decode(MASTER_KEY).unwrap().try_into().unwrap()
}
