//! Listens for processes that need what this one holds.

use std::{sync::Arc, time::Duration};

use database::{Trouble, connection_shortage::unless_scarce};
use sqlx::postgres::PgListener;
use telemetry::{failed, over};
use tokio::time::sleep;

use super::{
    allocator::Allocator,
    message::{CHANNEL, Message},
};

const PAUSE: Duration = Duration::from_secs(1);

/// Listens for ever, unless connections are scarce. While it does not listen, other processes wait in vain for this one's shares,
/// and refuse requests a little early.
pub(super) async fn run(allocator: Arc<Allocator>) {
    let trouble = Trouble::in_turn();
    loop {
        if let Some(Err(error)) = unless_scarce(listen(&allocator, &trouble)).await {
            let error = database::counted(error);
            failed!(trouble.failed(&error), %error, "not listening for shares of rate limits; trying again");
        }
        sleep(PAUSE).await;
    }
}

async fn listen(allocator: &Allocator, trouble: &Trouble) -> Result<(), sqlx::Error> {
    // A pool of its own, because a listener keeps its connection.
    let pool = database::separate_pool(&allocator.pool, 1);
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    over!(
        trouble.worked(),
        "listening for shares of rate limits again"
    );
    let own = allocator.holder.to_string();
    while let Some(notification) = listener.try_recv().await? {
        let message = Message::parse(notification.payload());
        if let Some(message) = message
            && message.sender != own
        {
            allocator.give_back(message.limited).await;
        }
    }
    Ok(())
}
