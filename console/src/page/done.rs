//! What a page says that was just done.

/// The sentence of a short name. The address has only the name, so nobody can make a page say something else.
pub(crate) fn done(name: &str) -> Option<&'static str> {
    Some(match name {
        "password-changed" => "Your password was changed. Your other sessions were ended.",
        "factor-removed" => "The second factor was removed.",
        "session-ended" => "The session was ended.",
        "sessions-ended" => "All your other sessions were ended.",
        "approved" => "The item was approved. The application is told.",
        "rejected" => "The item was rejected. The application is told.",
        "image-listed" => "The image is on the hash list now.",
        "hash-list-created" => "The hash list was created. Add hashes, or import many.",
        "hash-list-deleted" => "The hash list was deleted.",
        "hash-added" => {
            "The hash is on the list. Images that are submitted from now on are compared with it."
        }
        "hash-removed" => "The entry was removed. What it matched before stays matched.",
        "saved" => "The settings were saved.",
        _ => return None,
    })
}
