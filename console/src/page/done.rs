//! What a page says that was just done.

/// The sentence of a short name. The address has only the name, so nobody can make a page say something else.
pub(crate) fn done(name: &str) -> Option<&'static str> {
    Some(match name {
        "password-changed" => "Your password was changed. Your other sessions were ended.",
        "factor-removed" => "The second factor was removed.",
        "session-ended" => "The session was ended.",
        "sessions-ended" => "All your other sessions were ended.",
        "endpoint-created" => {
            "The endpoint was created. Send a test ping to see whether it answers."
        }
        "endpoint-changed" => "The settings were changed.",
        "headers-replaced" => "The headers were replaced.",
        "endpoint-disabled" => "The endpoint was disabled. It gets no events until it is enabled.",
        "endpoint-enabled" => "The endpoint was enabled. What waited for it is sent now.",
        "endpoint-deleted" => "The endpoint was deleted.",
        "retried" => "All deliveries that wait for this endpoint are due now.",
        "nothing-waits" => "No delivery waited for its next attempt. The endpoint counts as new.",
        "recovery-started" => "The recovery was started. It goes on if you leave this page.",
        "recovery-cancelled" => "The recovery was cancelled. What it has already sent goes on.",
        "resent" => "The delivery is sent again now.",
        _ => return None,
    })
}
