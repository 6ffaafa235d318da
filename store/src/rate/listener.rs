//! Hears of processes that need what this one holds.

use std::{sync::Arc, time::Duration};

use domain::key::SecretHash;
use sqlx::postgres::PgListener;
use tokio::time::sleep;
use tracing::warn;
use uuid::Uuid;

use super::{Holder, Limited, asker::Asker};

/// Its messages: who needs it, the policy, and whose window it is: the hash of a key in hex, or the id of a team.
pub(super) const CHANNEL: &str = "rate_shares";

const PAUSE: Duration = Duration::from_secs(1);

/// Listens for ever. While it cannot, others wait in vain for what this process holds, and refuse a little early.
pub(super) async fn run(asker: Arc<Asker>) {
    loop {
        if let Err(error) = listen(&asker).await {
            warn!(%error, "not listening for shares of rate limits; trying again");
        }
        sleep(PAUSE).await;
    }
}

async fn listen(asker: &Asker) -> Result<(), sqlx::Error> {
    // Of its own, because a listener keeps its connection.
    let pool = database::apart(&asker.pool, 1);
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    let own = asker.holder.to_string();
    while let Some(notification) = listener.try_recv().await? {
        let message = Message::parse(notification.payload());
        if let Some(message) = message
            && message.sender != own
        {
            asker.give_back(message.limited).await;
        }
    }
    Ok(())
}

/// A message to all processes. Those of a version that knows no windows of teams cannot read whose one of these is, and pass
/// over it: they hold nothing of it.
pub(super) fn message(sender: Uuid, (holder, policy): Limited) -> String {
    match holder {
        Holder::Key(key) => format!("{sender} {policy} {}", hex::encode(key.as_bytes())),
        Holder::Team(team) => format!("{sender} {policy} {team}"),
    }
}

struct Message<'a> {
    sender: &'a str,
    limited: Limited,
}

impl<'a> Message<'a> {
    /// None for what another version may send.
    fn parse(payload: &'a str) -> Option<Self> {
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
    use domain::limit::RatePolicy;

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
