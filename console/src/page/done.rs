//! What a page says that was just done.

/// The sentence of a short name. The address has only the name, so nobody can make a page say something else.
pub(crate) fn done(name: &str) -> Option<&'static str> {
    Some(match name {
        "password-changed" => "Your password was changed. Your other sessions were ended.",
        "factor-removed" => "The second factor was removed.",
        "session-ended" => "The session was ended.",
        "sessions-ended" => "All your other sessions were ended.",
        "site-saved" => {
            "The settings were saved. They apply to everything that is submitted from now on."
        }
        "group-attached" => "The rule group was attached. It judges what is submitted from now on.",
        "group-detached" => "The rule group was detached.",
        "key-disabled" => "The key was disabled. It does not work any more.",
        "jobs-paused" => "Paused: no more of these jobs start. Running jobs go on.",
        "jobs-resumed" => {
            "Resumed: these jobs start again, as far as nothing else holds them back."
        }
        "jobs-capped" => "The cap was set. It holds over all worker processes.",
        "jobs-uncapped" => "The cap was removed. The default of the queue applies.",
        _ => return None,
    })
}
