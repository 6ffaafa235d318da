//! What a page says that was just done.

/// The sentence of a short name. The address has only the name, so nobody can make a page say something else.
pub(crate) fn done(name: &str) -> Option<&'static str> {
    Some(match name {
        "password-changed" => "Your password was changed. Your other sessions were ended.",
        "connected" => "Your account is connected. You can sign in with it from now on.",
        "disconnected" => "The account is disconnected. Sessions that began there were ended.",
        "factor-removed" => {
            "The second factor was removed. Your other sessions, connections, recovery codes and links were ended."
        }
        "session-ended" => "The session was ended.",
        "sessions-ended" => "All your other sessions were ended.",
        "site-saved" => {
            "The settings were saved. They apply to everything that is submitted from now on."
        }
        "group-attached" => "The rule group was attached. It judges what is submitted from now on.",
        "group-detached" => "The rule group was detached.",
        "key-disabled" => "The key was disabled. It does not work any more.",
        "invitation-cancelled" => "The invitation was withdrawn. Its link does not work any more.",
        "person-changed" => "The change applies at once.",
        "person-disabled" => "The person was disabled, and can do nothing here any more.",
        "person-session-ended" => "The session was ended. The person can sign in again.",
        "sign-in-rule" => "The rule for signing in was changed. It applies at once.",
        "token-disabled" => "The token was disabled. Requests with it are refused from now on.",
        "erasure-started" => "The erasure was started. It goes on if you leave this page.",
        "erasure-resumed" => "The erasure goes on where it was.",
        "closure-started" => {
            "Nothing is accepted any more. You can cancel the closure during its grace."
        }
        "closure-cancelled" => "The closure was cancelled. What it had disabled is open again.",
        "closure-resumed" => "The closure goes on where it was.",
        "team-renamed" => "The team has a new name.",
        "team-created" => "The team was created. Invite its first owner next.",
        "plan-created" => "The plan was created.",
        "plan-changed" => {
            "The plan was changed. The change applies at once, to all teams that subscribe to it."
        }
        "subscription-changed" => "The subscription was changed. The change applies at once.",
        "approved" => "The item was approved. The application is told.",
        "rejected" => "The item was rejected. The application is told.",
        "image-listed" => "The image is on the hash list now.",
        "hash-list-created" => "The hash list was created. Add hashes, or import many.",
        "hash-list-deleted" => "The hash list was deleted.",
        "hash-added" => {
            "The hash is on the list. Images that are submitted from now on are compared with it."
        }
        "hash-removed" => "The entry was removed. What it matched before stays matched.",
        "bulk-undone" => {
            "The rest was stopped, and what was still held was undone. What was told stays."
        }
        "policy-created" => "The policy was created. It is on the desk now.",
        "policy-deleted" => "The policy was deleted.",
        "saved" => "The settings were saved.",
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
        "group-created" => "The rule group was created.",
        "group-renamed" => "The rule group has its new name.",
        "group-deleted" => "The rule group was deleted.",
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
        "jobs-paused" => "Paused: no more of these jobs start. Running jobs go on.",
        "jobs-resumed" => {
            "Resumed: these jobs start again, as far as nothing else holds them back."
        }
        "jobs-capped" => "The cap was set. It holds over all worker processes.",
        "jobs-uncapped" => "The cap was removed. The default of the queue applies.",
        _ => return None,
    })
}
