//! Changes of pauses and caps.

use api_common::field::{Field, Time, given};
use domain::bounded_integer::BoundedInteger;
use management::{Refused, queues::Pause};
use poem_openapi::Object;
use serde::Deserialize;

/// How many jobs can run at once.
type Cap = BoundedInteger<1, 2_147_483_647>;

/// Fields of a queue to change. Omitted fields keep their value.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "absent and null are two things")]
pub(crate) struct QueueChange {
    /// `true` pauses the whole queue: no more of its jobs start. `false` ends the pause. Pauses of
    /// its groups and lanes stay.
    #[serde(default, deserialize_with = "given")]
    paused: Option<bool>,
    /// When the pause ends. `null` means when you end it. Send it with `"paused": true`. A pause
    /// that already lasts longer stays.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    paused_until: Option<Option<Field<Time>>>,
}

impl QueueChange {
    pub(super) fn pause(&self) -> Result<Option<Pause>, Refused> {
        pause(self.paused, self.paused_until.as_ref())
    }
}

/// Fields of a group or a lane of a queue to change. Omitted fields keep their value.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "absent and null are two things")]
pub(crate) struct QueuePartChange {
    /// `true` pauses the group or lane: no more of its jobs start. `false` ends the pause.
    #[serde(default, deserialize_with = "given")]
    paused: Option<bool>,
    /// When the pause ends. `null` means when you end it. Send it with `"paused": true`. A pause
    /// that already lasts longer stays.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    paused_until: Option<Option<Field<Time>>>,
    /// How many of its jobs can run at once, over all processes. `null` restores the default of the
    /// queue.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    cap: Option<Option<Field<Cap>>>,
}

impl QueuePartChange {
    pub(super) fn pause(&self) -> Result<Option<Pause>, Refused> {
        pause(self.paused, self.paused_until.as_ref())
    }

    #[expect(clippy::option_option, reason = "absent and null are two things")]
    pub(super) fn cap(&self) -> Option<Option<u32>> {
        let number = |cap: &Field<Cap>| u32::try_from(cap.get()).unwrap_or(u32::MAX);
        self.cap.as_ref().map(|cap| cap.as_ref().map(number))
    }
}

fn pause(
    paused: Option<bool>,
    until: Option<&Option<Field<Time>>>,
) -> Result<Option<Pause>, Refused> {
    match (paused, until) {
        (None, None) => Ok(None),
        (Some(true), None | Some(None)) => Ok(Some(Pause::UntilResumed)),
        (Some(true), Some(Some(until))) => Ok(Some(Pause::Until(until.0.0))),
        (Some(false), None | Some(None)) => Ok(Some(Pause::End)),
        (None, Some(_)) | (Some(false), Some(Some(_))) => Err(Refused::field(
            "paused_until",
            "can only be sent with `paused`: true",
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pause_has_an_end_only_if_it_begins() {
        let read = |body| serde_json::from_value::<QueueChange>(body).unwrap().pause();
        let end = "2026-01-31T12:00:00Z";
        let time = end.parse::<Time>().unwrap().0;
        for (body, expected) in [
            (json!({}), None),
            (json!({ "paused": true }), Some(Pause::UntilResumed)),
            (
                json!({ "paused": true, "paused_until": null }),
                Some(Pause::UntilResumed),
            ),
            (
                json!({ "paused": true, "paused_until": end }),
                Some(Pause::Until(time)),
            ),
            (json!({ "paused": false }), Some(Pause::End)),
            (
                json!({ "paused": false, "paused_until": null }),
                Some(Pause::End),
            ),
        ] {
            assert_eq!(read(body.clone()).unwrap(), expected, "{body}");
        }
        for body in [
            json!({ "paused_until": end }),
            json!({ "paused_until": null }),
            json!({ "paused": false, "paused_until": end }),
        ] {
            assert!(
                matches!(read(body.clone()), Err(Refused::Fields(_))),
                "{body}"
            );
        }
    }
}
