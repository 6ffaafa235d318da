//! What it takes to send a test to an endpoint.

use domain::{
    id::{EndpointId, SiteId, TeamId},
    reach::Reach,
    signature::SigningSecrets,
    webhook::CustomHeader,
};
use sqlx::PgConnection;

use super::crud;
use crate::{Error, encryption::MasterKey, site};

/// Where a test goes, and what goes with it.
#[derive(Clone, Debug)]
pub struct Target {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Its site.
    pub site: SiteId,
    /// Its site's team.
    pub team: TeamId,
    /// Where it is.
    pub url: String,
    /// What its owner wants on every request.
    pub headers: Vec<CustomHeader>,
    /// What signs.
    pub secrets: SigningSecrets,
}

/// How a test went.
#[derive(Clone, Debug)]
pub struct Pinged {
    /// How it ended, in one word, as attempts do.
    pub outcome: &'static str,
    /// The answer's status.
    pub status_code: Option<u16>,
    /// The first 2 KiB of the answer, whatever its status.
    pub response_body: Option<Vec<u8>>,
    /// Why there was no answer, in words for the endpoint's owner; none if there was one.
    pub error: Option<String>,
    /// How long it took.
    pub elapsed: std::time::Duration,
}

/// An endpoint, disabled ones included; none if there is none within reach.
pub async fn target(
    conn: &mut PgConnection,
    key: &MasterKey,
    reach: Reach,
    endpoint: EndpointId,
) -> Result<Option<Target>, Error> {
    let Some(found) = crud::find(conn, Some(key), reach, endpoint).await? else {
        return Ok(None);
    };
    let secrets = site::webhook_secret::signing(conn, key, found.site).await?;
    Ok(secrets.map(|secrets| Target {
        endpoint: found.id,
        site: found.site,
        team: found.team,
        url: found.settings.url,
        headers: found.settings.headers,
        secrets,
    }))
}
