//! The end: what is left of an erased site is removed, and what a closed team no longer needs.

use domain::{
    actor::Actor,
    audit::Action,
    id::{ClosureId, SiteId, TeamId},
    signature::WebhookSecret,
};
use serde_json::json;
use sqlx::PgConnection;

use crate::{
    audit::{self, Entry},
    encryption::MasterKey,
    site::webhook_secret::owner,
};

/// A site that is erased.
#[derive(Debug)]
pub(super) struct Removal {
    site: SiteId,
    /// A sealed secret that nobody knows, in place of the one that signed its webhooks.
    secret: Vec<u8>,
}

/// What is removed, those first that refer to others. `$1` is the site. Events and deliveries were erased before.
const OF_SITE: [&str; 10] = [
    "delete from rate_windows where site_key_id in (select id from site_keys where site_id = $1)",
    "delete from site_keys where site_id = $1",
    "delete from webhook_recoveries where site_id = $1",
    "delete from webhook_endpoint_states where endpoint_id in (select id from webhook_endpoints where site_id = $1)",
    "delete from webhook_endpoints where site_id = $1",
    "delete from site_rule_groups where site_id = $1",
    "delete from desk_settings where site_id = $1",
    "delete from cached_answers where site_id = $1",
    // None is in force. Their authors and reasons may name people.
    "delete from legal_holds where site_id = $1 and lifted_at is not null",
    "delete from exports where site_id = $1",
];

impl Removal {
    pub(super) fn new(master_key: &MasterKey, site: SiteId) -> Self {
        let secret = WebhookSecret::from_random(rand::random());
        Self {
            site,
            secret: master_key.seal(&owner(site), secret.expose().as_bytes()),
        }
    }

    /// Removes what is the site's own. Its row stays, without its name and its settings.
    pub(super) async fn apply(
        &self,
        conn: &mut PgConnection,
        closure: ClosureId,
    ) -> Result<(), sqlx::Error> {
        for statement in OF_SITE {
            sqlx::query(statement)
                .bind(self.site.as_uuid())
                .execute(&mut *conn)
                .await?;
        }
        // The name is free for another site of the team.
        sqlx::query!(
            "
            update sites
            set
                name = 'closed ' || id, providers = null, policy = null, answer_cache_seconds = null, author_pointer = null,
                webhook_secret = $2, next_webhook_secret = null, next_webhook_secret_at = null
            where id = $1
            ",
            self.site.as_uuid(),
            self.secret,
        )
        .execute(&mut *conn)
        .await?;
        sqlx::query!(
            "update closure_sites set closed_at = now() where closure_id = $1 and site_id = $2",
            closure.as_uuid(),
            self.site.as_uuid(),
        )
        .execute(conn)
        .await?;
        Ok(())
    }
}

/// What ends with a team. `$1` is the team. Owners stay, so that they can read what is left.
const OF_TEAM: [&str; 4] = [
    "update management_tokens set disabled_at = now() where team_id = $1 and disabled_at is null",
    "delete from links where team_id = $1",
    "update memberships set disabled_at = now(), by_provider = false
     where team_id = $1 and role <> 'owner' and disabled_at is null",
    "update subscriptions set state = 'cancelled', past_due_since = null where team_id = $1",
];

/// Ends what a team has, if it is closed, and records the end of the closure.
pub(super) async fn finish(
    conn: &mut PgConnection,
    closure: ClosureId,
    (team, site): (TeamId, Option<SiteId>),
    by: Actor,
) -> Result<(), sqlx::Error> {
    if site.is_none() {
        for statement in OF_TEAM {
            sqlx::query(statement)
                .bind(team.as_uuid())
                .execute(&mut *conn)
                .await?;
        }
    }
    let entry = Entry {
        actor: by,
        action: Action::ClosureFinish,
        team: Some(team),
        target: Some(closure.as_uuid()),
        details: &json!({ "finished": { "team_id": team, "site_id": site } }),
        request_id: None,
    };
    audit::insert(conn, entry).await
}
