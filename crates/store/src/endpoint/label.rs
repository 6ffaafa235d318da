//! What endpoints are called in lists of deliveries and events. Deleted endpoints have a name, too.

use domain::id::{EndpointId, SiteId};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, delivery::ENDPOINTS};

/// An endpoint's name for people.
#[derive(Clone, Debug)]
pub struct Label {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Where it is.
    pub url: String,
    /// What it is for.
    pub description: Option<String>,
    /// Its site.
    pub site: SiteId,
    /// The name of its site.
    pub site_name: String,
    /// Whether it was deleted.
    pub is_deleted: bool,
}

/// The labels of the endpoints of these sites, the newest first: all whose deliveries are listed.
pub async fn labels(conn: &mut PgConnection, sites: &[SiteId]) -> Result<Vec<Label>, Error> {
    let sites: Vec<Uuid> = sites.iter().map(|site| site.as_uuid()).collect();
    let rows = sqlx::query_as!(
        Label,
        r#"
        select
            p.id as endpoint, p.url, p.description, p.site_id as site, s.name as site_name,
            p.deleted_at is not null as "is_deleted!"
        from webhook_endpoints p
        join sites s on s.id = p.site_id
        where p.site_id = any($1)
        order by p.id desc
        limit $2
        "#,
        &sites,
        ENDPOINTS,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows)
}
