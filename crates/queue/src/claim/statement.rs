//! The statement of a claim.

use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::{Claimer, claimed::Claimed, cursor::Cursor};
use crate::{Group, Lane, buffer::Limits};

fn integer(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// The arrays to bind: names, and the room of each.
fn columns<N: Copy>(rooms: &[(N, usize)]) -> (Vec<N>, Vec<i32>) {
    rooms
        .iter()
        .map(|&(name, room)| (name, integer(room)))
        .unzip()
}

impl<A: DeserializeOwned + Send + 'static> Claimer<A> {
    pub(super) async fn ask(
        &self,
        cursor: &Cursor,
        wanted: usize,
        limits: &Limits,
    ) -> Result<Claimed, sqlx::Error> {
        let mut conn = self.shared.claims.acquire().await?;
        let (groups, group_rooms) = columns(&limits.groups);
        let (lanes, lane_rooms) = columns(&limits.lanes);
        let (ring_groups, ring_lanes) = cursor.rings();
        let cap = |cap: Option<u32>| cap.map(|cap| i32::try_from(cap).unwrap_or(i32::MAX));
        let claim = sqlx::query_as!(
            Claimed,
            r#"select ids, groups, lanes, fences, attempts, max_attempts, payloads, waited_ms, next_group as "next_group!",
                      ring_groups, ring_lanes, visited as "visited!", met as "met!", more as "more!", capped as "capped!",
                      next_due_ms
                 from queue.claim($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)"#,
            self.shared.worker,
            self.settings.queue.as_str(),
            integer(wanted),
            cursor.after,
            cursor.window(wanted),
            cap(self.settings.lane_cap),
            cap(self.settings.group_cap),
            // Formats: jobs that this binary does not understand must be kept from it by its
            // successor.
            i16::MAX,
            cursor.is_deep,
            integer(limits.group),
            &groups as &[Group],
            &group_rooms,
            &lanes as &[Lane],
            &lane_rooms,
            integer(limits.lane_has),
            integer(limits.incoming),
            &ring_groups,
            &ring_lanes,
        )
        .fetch_one(&mut *conn);
        if let Ok(answer) = timeout(self.shared.config.deadline, claim).await {
            answer
        } else {
            conn.close_on_drop();
            Err(database::deadline_exceeded(self.shared.config.deadline))
        }
    }
}
