//! A second claimer, for a queue with a backlog.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::{Claimer, cursor::Cursor};

impl<A: DeserializeOwned + Send + 'static> Claimer<A> {
    /// Claims beside [`run`](Self::run) while claims come back full. While one of the two waits for
    /// the database, the other one's jobs are handed out. Otherwise it sleeps, so that a quiet
    /// queue is asked once.
    pub(crate) async fn help(self: Arc<Self>) {
        let waker = self.shared.local_wakeups.of(self.settings.queue.as_str());
        let mut cursor = Cursor::anywhere();
        cursor.is_deep = true;
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = self.backlog.notified() => {}
            }
            while self.shared.lease.is_held() {
                let room = tokio::select! {
                    () = self.stop.cancelled() => return,
                    room = self.buffer.room() => room,
                };
                // Only for new groups: the other claimer looks for them.
                if !room.limits().has_room() {
                    break;
                }
                // The other claimer logs errors and waits.
                let Ok(found) = self.claim(&mut cursor, room).await else {
                    break;
                };
                if found.capped {
                    waker.set_capped(true);
                }
                if !found.is_full {
                    break;
                }
            }
        }
    }
}
