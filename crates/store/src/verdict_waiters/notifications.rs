//! Notifications of verdicts between processes.

use std::{sync::Arc, time::Duration};

use database::{Trouble, connection_shortage::unless_scarce};
use domain::id::MediaId;
use sqlx::{PgPool, postgres::PgListener};
use telemetry::{failed, over};
use tokio::{sync::mpsc, time::sleep};
use tracing::debug;
use uuid::Uuid;

use super::Waiting;

/// The channel. A notification has ids of items, separated by commas.
const CHANNEL: &str = "gatehouse_decided";
/// Ids in one notification. Postgres allows less than 8,000 bytes, and an id takes 33.
const IDS: usize = 240;
/// After a failure.
const PAUSE: Duration = Duration::from_secs(1);

/// Tells the other processes, until this one makes no more verdicts. What comes during one notification is in the next.
pub(super) async fn tell(pool: PgPool, mut decided: mpsc::Receiver<MediaId>) {
    let mut ids = Vec::new();
    while decided.recv_many(&mut ids, IDS).await > 0 {
        let payload: Vec<String> = ids
            .drain(..)
            .map(|media| media.as_uuid().simple().to_string())
            .collect();
        // It can get lost anyway, so the commit does not wait for the disk.
        let told = sqlx::query!(
            "select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)",
            CHANNEL,
            payload.join(","),
        );
        if let Err(error) = told.fetch_one(&pool).await {
            debug!(%error, "cannot tell other processes of verdicts; their requests wait until their time is over");
        }
    }
}

/// Listens for ever, unless connections are scarce. While it does not, requests wait until their time is over.
pub(super) async fn listen(pool: PgPool, waiting: Arc<Waiting>) {
    let trouble = Trouble::in_turn();
    loop {
        if let Some(Err(error)) = unless_scarce(listen_once(&pool, &waiting, &trouble)).await {
            let error = database::counted(error);
            failed!(trouble.failed(&error), %error, "cannot listen for verdicts of other processes; until it works again, requests with `Prefer: wait` are answered when their time is over");
        }
        sleep(PAUSE).await;
    }
}

async fn listen_once(
    pool: &PgPool,
    waiting: &Waiting,
    trouble: &Trouble,
) -> Result<(), sqlx::Error> {
    // A pool of its own, because a listener keeps its connection.
    let pool = database::separate_pool(pool, 1);
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    over!(
        trouble.worked(),
        "listening for verdicts of other processes again"
    );
    // What was told while nobody listened is lost.
    waiting.wake_all();
    while let Some(notification) = listener.try_recv().await? {
        for id in notification.payload().split(',') {
            if let Ok(id) = id.parse::<Uuid>() {
                waiting.wake(MediaId::from(id), None);
            }
        }
    }
    Ok(())
}
