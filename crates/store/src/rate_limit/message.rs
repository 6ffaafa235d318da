//! What a process sends to the others when it needs what they hold: its own id, the policy, and
//! whose window it is: the hash of a key in hex, or the id of a team.

use domain::key::SecretHash;
use uuid::Uuid;

use super::{Holder, Limited};

/// The channel of these messages.
pub(super) const CHANNEL: &str = "rate_shares";

/// A message to all processes. Older versions know no windows of teams. They cannot read such a
/// message and ignore it: they hold no such shares.
pub(super) fn message(sender: Uuid, (holder, policy): Limited) -> String {
    match holder {
        Holder::Key(key) => format!("{sender} {policy} {}", hex::encode(key.as_bytes())),
        Holder::Team(team) => format!("{sender} {policy} {team}"),
    }
}

/// A message as it was read.
pub(super) struct Message<'a> {
    pub(super) sender: &'a str,
    pub(super) limited: Limited,
}

impl<'a> Message<'a> {
    /// None for messages of other versions.
    pub(super) fn parse(payload: &'a str) -> Option<Self> {
        let mut words = payload.split(' ');
        let (sender, policy, holder) = (words.next()?, words.next()?, words.next()?);
        let holder = if let Ok(team) = Uuid::try_parse(holder) {
            Holder::Team(team.into())
        } else {
            let hash: [u8; 32] = hex::decode(holder).ok()?.try_into().ok()?;
            Holder::Key(SecretHash::from(hash))
        };
        Some(Self {
            sender,
            limited: (holder, policy.parse().ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use domain::rate_limit::RatePolicy;

    use super::*;

    #[test]
    fn a_message_says_whose_window_is_meant() {
        let sender = Uuid::from_u128(1);
        let key = Holder::Key(SecretHash::from([9; 32]));
        let team = Holder::Team(Uuid::from_u128(2).into());
        for limited in [(key, RatePolicy::Submit), (team, RatePolicy::Status)] {
            let text = message(sender, limited);
            let read = Message::parse(&text).unwrap();
            assert_eq!(read.sender, sender.to_string());
            assert_eq!(read.limited, limited);
        }
        assert!(Message::parse("somebody submit 0099").is_none());
    }
}
