//! What a page says that was just done.

/// The sentence of a short name. The address has only the name, so nobody can make a page say something else.
pub(crate) fn done(name: &str) -> Option<&'static str> {
    Some(match name {
        "password-changed" => "Your password was changed. Your other sessions were ended.",
        "factor-removed" => "The second factor was removed.",
        "session-ended" => "The session was ended.",
        "sessions-ended" => "All your other sessions were ended.",
        "group-created" => "The rule group was created.",
        "group-renamed" => "The rule group has its new name.",
        "group-deleted" => "The rule group was deleted.",
        "group-attached" => "The group judges for the site from now on.",
        "group-detached" => "The group is no longer attached to the site.",
        "rule-saved" => "The rule is in the draft. It judges nothing until you publish.",
        "rule-moved" => "The rule was moved in the draft.",
        "rule-on" => "The rule was switched on in the draft.",
        "rule-off" => "The rule was switched off in the draft.",
        "rule-removed" => {
            "The rule was removed from the draft. The live version still has it until you publish."
        }
        "draft-discarded" => "The draft was discarded.",
        "draft-imported" => "The draft has the rules of your file.",
        "published" => "The draft is a version now, and it is live.",
        "version-live" => "The version is live.",
        "shadow-started" => "The version judges in the shadow from now on, without effect.",
        "shadow-ended" => "The shadow has ended. What it said is kept.",
        "backtest-started" => "The backtest is running. You can leave this page and come back.",
        "backtest-cancelled" => "The backtest was cancelled. Its findings so far are kept.",
        _ => return None,
    })
}
