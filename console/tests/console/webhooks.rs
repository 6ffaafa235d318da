//! Webhooks: endpoints, deliveries, recoveries and events.

mod access;
mod deliveries;
mod endpoint;
mod list;
mod ping;
mod recover;

use std::{sync::Arc, time::Duration};

use domain::{
    id::{DeliveryId, EndpointId, SiteId},
    webhook::Outcome,
};
use management::{
    Caller, EndpointChecks,
    endpoints::{self, NewEndpoint, NewHeader, Pinged},
};
use sqlx::PgPool;
use uuid::Uuid;

use crate::browser::Stage;

/// What a stranger types to harm somebody, with a mark that turns the text around.
pub(crate) const HOSTILE: &str = "<script>alert(1)</script>\"'&\u{202e}";

/// How a page shows it.
pub(crate) const SHOWN: &str = "&#60;script&#62;alert(1)&#60;/script&#62;&#34;&#39;&#38;\u{202e}";

/// Sends nothing: the host decides how a test ends.
pub(crate) fn endpoint_checks() -> EndpointChecks {
    EndpointChecks::new(
        Arc::new(|_, url| match url.host_str() {
            Some("inside.example") => Err("must have a public address".to_owned()),
            _ => Ok(()),
        }),
        Arc::new(|target| {
            Box::pin(async move {
                let pinged = |status: u16| Pinged {
                    outcome: Outcome::of_status(status).as_str(),
                    status_code: Some(status),
                    response_body: Some(HOSTILE.into()),
                    error: None,
                    elapsed: Duration::from_millis(87),
                };
                match target.url.as_str() {
                    "https://busy.example/" => None,
                    "https://broken.example/" => Some(pinged(500)),
                    "https://silent.example/" => Some(Pinged {
                        outcome: "timeout",
                        status_code: None,
                        response_body: None,
                        error: Some(format!("nobody answered {HOSTILE}")),
                        elapsed: Duration::from_secs(15),
                    }),
                    _ => Some(pinged(200)),
                }
            })
        }),
    )
}

impl Stage {
    pub(crate) fn pool(&self) -> &PgPool {
        &self.management.pool
    }

    /// An endpoint with a header.
    pub(crate) async fn endpoint(&self, site: SiteId, url: &str) -> EndpointId {
        let new = NewEndpoint {
            headers: vec![NewHeader {
                name: "Authorization".to_owned(),
                value: "Bearer of-the-gateway".to_owned(),
            }],
            ..NewEndpoint::at(url.parse().unwrap())
        };
        let caller = Caller::command_line(&self.management);
        let created = endpoints::create(&caller, site, new).await;
        created.unwrap().id
    }

    /// A delivery in this state with one attempt, of an item that was just accepted.
    pub(crate) async fn delivery(&self, endpoint: EndpointId, state: &str) -> (DeliveryId, Uuid) {
        let (media, event) = (Uuid::now_v7(), Uuid::now_v7());
        let site: Uuid = sqlx::query_scalar("select site_id from webhook_endpoints where id = $1")
            .bind(endpoint.as_uuid())
            .fetch_one(self.pool())
            .await
            .unwrap();
        let delivery = DeliveryId::of(event.into(), endpoint);
        for statement in [
            sqlx::query(
                "insert into media (id, team_id, site_id, content_type, group_versions, metadata)
                 values ($1, $2, $3, 'text', '{}', '{\"note\": \"<b>\"}')",
            )
            .bind(media)
            .bind(self.team.as_uuid())
            .bind(site),
            sqlx::query(
                "insert into events (id, media_id, site_id, kind) values ($2, $1, $3, 'media.created')",
            )
            .bind(media)
            .bind(event)
            .bind(site),
            sqlx::query(
                "insert into deliveries (id, event_id, endpoint_id, state, attempts, next_attempt_at, ended_at)
                 values ($1, $2, $3, $4, 1, case when $4 = 'pending' then now() + interval '1 hour' end,
                         case when $4 <> 'pending' then now() end)",
            )
            .bind(delivery.as_uuid())
            .bind(event)
            .bind(endpoint.as_uuid())
            .bind(state.to_owned()),
            sqlx::query(
                "insert into delivery_attempts
                     (delivery_id, number, started_at, duration_ms, outcome, status_code, response_body, url)
                 values ($1, 1, now(), 120, case when $2 = 'delivered' then 'delivered' else 'status' end,
                         case when $2 = 'delivered' then 204 else 503 end,
                         case when $2 = 'delivered' then null else convert_to($3, 'utf8') end,
                         'https://shop.example/hooks')",
            )
            .bind(delivery.as_uuid())
            .bind(state.to_owned())
            .bind(HOSTILE),
        ] {
            statement.execute(self.pool()).await.unwrap();
        }
        (delivery, media)
    }

    /// Makes an endpoint one that has failed for an hour, with an open breaker.
    pub(crate) async fn fails(&self, endpoint: EndpointId) {
        sqlx::query(
            "insert into webhook_endpoint_states (endpoint_id, failing_since, failures, openings, open_until)
             values ($1, now() - interval '1 hour', 12, 3, now() + interval '4 minutes')",
        )
        .bind(endpoint.as_uuid())
        .execute(self.pool())
        .await
        .unwrap();
    }

    /// Sends a delivery again, which then waits for its next attempt.
    async fn waits(&self, delivery: DeliveryId) {
        let caller = Caller::command_line(&self.management);
        let resent = management::deliveries::resend(&caller, delivery);
        resent.await.unwrap();
        sqlx::query(
            "with scheduled as (update queue.jobs set state = 2, run_at = now() + interval '1 hour' where state = 0)
             update deliveries set next_attempt_at = now() + interval '1 hour' where id = $1",
        )
        .bind(delivery.as_uuid())
        .execute(self.pool())
        .await
        .unwrap();
    }

    /// How often people did this to an endpoint or a delivery, each in a request of their own.
    async fn recorded_of(&self, action: &str, target: Uuid) -> i64 {
        sqlx::query_scalar(
            "select count(distinct request_id) from audit_log
             where action = $1 and target_id = $2 and team_id = $3 and actor = 'member' and actor_id is not null",
        )
        .bind(action.to_owned())
        .bind(target)
        .bind(self.team.as_uuid())
        .fetch_one(self.pool())
        .await
        .unwrap()
    }
}
