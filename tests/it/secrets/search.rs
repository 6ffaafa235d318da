//! Looks for secrets and content, in all spellings, in what was written.

use std::process::Command;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{FakeProvider, MASTER_KEY, Site};

/// All secrets: keys, tokens, and passwords.
pub(super) fn secrets(pool: &PgPool, site: &Site, token: &str) -> Vec<String> {
    let url = pool.connect_options().to_url_lossy();
    let mut secrets: Vec<String> = [
        &site.key,
        token,
        &site.webhook_secret,
        MASTER_KEY,
        FakeProvider::KEY,
    ]
    .map(ToOwned::to_owned)
    .into();
    secrets.extend(url.password().map(ToOwned::to_owned));
    // Without their prefix, too.
    for secret in secrets.clone() {
        secrets.extend(secret.split_once('_').map(|(_, rest)| rest.to_owned()));
    }
    secrets
}

/// The ways in which a marker can be written: as it is, as bytes in hexadecimal or base64, and
/// decoded from base64.
fn spellings(marker: &str) -> Vec<String> {
    let mut spellings = vec![
        marker.to_owned(),
        hex::encode(marker),
        STANDARD.encode(marker).trim_end_matches('=').to_owned(),
    ];
    spellings.extend(STANDARD.decode(marker).ok().map(hex::encode));
    spellings
}

/// # Panics
/// With the line, if the text contains a marker.
pub(super) fn assert_free(what: &str, told: &str, markers: &[String]) {
    for marker in markers {
        for spelling in spellings(marker) {
            if let Some(line) = told.lines().find(|line| line.contains(&spelling)) {
                panic!("{what} contains {marker} as {spelling}:\n{line}");
            }
        }
    }
}

/// A dump of the whole database.
pub(super) fn dump(pool: &PgPool) -> String {
    let mut url = pool.connect_options().to_url_lossy();
    // Only our driver knows these settings.
    url.set_query(None);
    let tell = ". scripts/lib.sh; exec \"$(postgres_programs)/pg_dump\" \"$1\"";
    let output = Command::new("sh")
        .args(["-c", tell, "scripts/dump", url.as_str()])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
