//! Hears of processes that need what this one holds.

use std::{sync::Arc, time::Duration};

use domain::key::SecretHash;
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::time::sleep;
use tracing::warn;

use super::{Limited, asker::Asker};

/// Its messages: who needs it, the policy, and the hash of the key in hex.
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
    let options = Arc::unwrap_or_clone(asker.pool.connect_options());
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .connect_lazy_with(options);
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

struct Message<'a> {
    sender: &'a str,
    limited: Limited,
}

impl<'a> Message<'a> {
    /// None for what another version may send.
    fn parse(payload: &'a str) -> Option<Self> {
        let mut words = payload.split(' ');
        let (sender, policy, key) = (words.next()?, words.next()?, words.next()?);
        let hash: [u8; 32] = hex::decode(key).ok()?.try_into().ok()?;
        Some(Self {
            sender,
            limited: (SecretHash::from(hash), policy.parse().ok()?),
        })
    }
}
