//! Rate limits of endpoints: all workers together send no more requests per second than an
//! endpoint's owner wants.

use std::time::Duration;

use domain::id::EndpointId;
use queue::{Lane, lanes};
use sqlx::{Connection as _, PgPool};

use crate::{Error, jobs};

/// Asks to send one request to an endpoint with a limit. None: send it now. Otherwise returns how
/// long to wait, and no job of that endpoint is claimed until then.
pub async fn permit(
    pool: &PgPool,
    endpoint: EndpointId,
    max_per_second: u32,
) -> Result<Option<Duration>, Error> {
    let mut conn = pool.acquire().await?;
    let mut tx = conn.begin().await?;
    let row = sqlx::query!(
        r#"
        with permit as (
            insert into webhook_endpoint_states as s (endpoint_id, second, sent)
            values ($1, date_trunc('second', clock_timestamp()), 1)
            on conflict (endpoint_id) do update
            set
                second = excluded.second,
                sent = case when s.second = excluded.second then s.sent + 1 else 1 end
            where s.second is null or s.second < excluded.second or (s.second = excluded.second and s.sent < $2)
            returning true
        )
        select
            exists (select from permit) as "permitted!",
            date_trunc('second', clock_timestamp()) + interval '1 second' as "next!",
            clock_timestamp() as "now!"
        "#,
        endpoint.as_uuid(),
        i32::try_from(max_per_second).unwrap_or(i32::MAX),
    )
    .fetch_one(&mut *tx)
    .await?;
    let wait = (row.next - row.now).to_std().unwrap_or_default();
    if !row.permitted {
        let lane = Lane(endpoint.as_uuid());
        lanes::pause_until(&mut tx, jobs::WEBHOOKS, lane, row.next).await?;
    }
    tx.commit().await?;
    Ok((!row.permitted).then_some(wait))
}
