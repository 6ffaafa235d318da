//! The master key, from the environment or a file.

use std::path::Path;

use anyhow::{Context as _, bail};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use store::encryption::MasterKey;

use super::{invalid::invalid, read_value, variable};

/// The master key from `GATEHOUSE_MASTER_KEY` or the file that `GATEHOUSE_MASTER_KEY_FILE` names,
/// if one is set.
pub(crate) fn master_key() -> anyhow::Result<Option<MasterKey>> {
    let file = variable("GATEHOUSE_MASTER_KEY_FILE")?;
    let key = match (variable("GATEHOUSE_MASTER_KEY")?, file) {
        (Some(_), Some(_)) => {
            bail!(invalid!(
                "GATEHOUSE_MASTER_KEY and GATEHOUSE_MASTER_KEY_FILE are both set; unset one"
            ))
        }
        (Some(key), None) => parse_master_key(&key).context(invalid!(
            "the master key in GATEHOUSE_MASTER_KEY is unusable"
        )),
        (None, Some(path)) => master_key_in(Path::new(&path)),
        (None, None) => return Ok(None),
    };
    key.map(Some)
}

/// Reads a master key from a file.
pub(super) fn master_key_in(path: &Path) -> anyhow::Result<MasterKey> {
    let text = read_value(path)
        .with_context(|| format!("cannot read the master key in {}", path.display()))?;
    parse_master_key(&text)
        .with_context(|| format!("the master key in {} is unusable", path.display()))
}

/// The master key, for commands that need one.
pub(crate) fn required_master_key() -> anyhow::Result<MasterKey> {
    master_key()?.context(invalid!(
        "no master key: set GATEHOUSE_MASTER_KEY to 32 random bytes in base64, for example from `head -c 32 /dev/urandom | base64`, \
         or GATEHOUSE_MASTER_KEY_FILE to the name of a file with them"
    ))
}

/// Reads a key of 32 bytes in base64, or several keys separated by white space. The first seals,
/// and all of them open.
pub(crate) fn parse_master_key(text: &str) -> anyhow::Result<MasterKey> {
    let mut keys = text.split_whitespace().map(key_bytes);
    let first = keys.next().context("it is empty")??;
    keys.try_fold(
        MasterKey::new(first),
        |key, older| Ok(key.replacing(older?)),
    )
}

pub(super) fn key_bytes(text: &str) -> anyhow::Result<[u8; 32]> {
    // The decoder's message has a character of the key.
    let bytes = STANDARD.decode(text).ok().context("it is not base64")?;
    let length = bytes.len();
    bytes
        .try_into()
        .ok()
        .with_context(|| format!("it is {length} bytes instead of 32"))
}
