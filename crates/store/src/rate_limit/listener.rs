//! Listens for processes that need what this one holds.

use std::{sync::Arc, time::Duration};

use database::{Trouble, connection_shortage::unless_scarce};
use sqlx::postgres::PgListener;
use telemetry::{failed, over};
use tokio::time::sleep;

use super::{
    allocator::Asker,
    message::{CHANNEL, Message},
};

const PAUSE: Duration = Duration::from_secs(1);

/// Listens for ever, unless connections are scarce. While it does not listen, other processes wait in vain for this one's shares,
/// and refuse requests a little early.
pub(super) async fn run(asker: Arc<Asker>) {
    let trouble = Trouble::in_turn();
    loop {
        if let Some(Err(error)) = unless_scarce(listen(&asker, &trouble)).await {
            let error = database::counted(error);
            failed!(trouble.failed(&error), %error, "not listening for shares of rate limits; trying again");
        }
        sleep(PAUSE).await;
    }
}

async fn listen(asker: &Asker, trouble: &Trouble) -> Result<(), sqlx::Error> {
    // A pool of its own, because a listener keeps its connection.
    let pool = database::separate_pool(&asker.pool, 1);
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    over!(
        trouble.worked(),
        "listening for shares of rate limits again"
    );
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
