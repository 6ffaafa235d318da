//! What sites have of all that they need for work: keys, endpoints, a test that succeeded, rules.

use domain::{
    id::{SiteId, TeamId},
    reach::Reach,
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// How many things a site has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The site.
    pub site: SiteId,
    /// Keys that are not disabled.
    pub keys: i64,
    /// Webhook endpoints that are not disabled.
    pub endpoints: i64,
}

/// Counts what these sites have, as far as they are within reach.
pub async fn counts(
    conn: &mut PgConnection,
    reach: Reach,
    sites: &[SiteId],
) -> Result<Vec<Counts>, Error> {
    let sites: Vec<Uuid> = sites.iter().map(|site| site.as_uuid()).collect();
    let counts = sqlx::query_as!(
        Counts,
        r#"
        select
            s.id as site,
            (select count(*) from site_keys k where k.site_id = s.id and k.disabled_at is null) as "keys!",
            (select count(*) from webhook_endpoints p where p.site_id = s.id and p.disabled_at is null) as "endpoints!"
        from sites s
        where s.id = any($1) and ($2::uuid is null or s.team_id = $2)
        "#,
        &sites,
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_all(conn)
    .await?;
    Ok(counts)
}

/// Whether a site was tried and has rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readiness {
    /// An endpoint that is not disabled received a test ping or a webhook.
    pub is_tested: bool,
    /// A group that judges for it has rules.
    pub has_rules: bool,
}

/// Whether a site was tried and has rules; none if there is none within reach. Of each endpoint, the
/// last tests and deliveries are looked at.
pub async fn readiness(
    conn: &mut PgConnection,
    reach: Reach,
    site: SiteId,
) -> Result<Option<Readiness>, Error> {
    // `offset 0` makes the planner look at the site's groups alone. Otherwise it may read the rules of
    // all versions of all teams.
    let readiness = sqlx::query_as!(
        Readiness,
        r#"
        select
            exists (
                select
                from webhook_endpoints p
                where p.site_id = s.id and p.disabled_at is null and (
                    exists (
                        select
                        from (
                            select action, details from audit_log where target_id = p.id order by id desc limit 20
                        ) l
                        where l.action = 'endpoint.ping' and l.details ->> 'outcome' = 'delivered'
                    )
                    or exists (
                        select
                        from (select state from deliveries where endpoint_id = p.id order by id desc limit 20) d
                        where d.state = 'delivered'
                    )
                )
            ) as "is_tested!",
            exists (
                select
                from (
                    select rule_group_id as id from site_rule_groups where site_id = s.id
                    union all
                    select s.default_rule_group_id
                    where not exists (select from site_rule_groups where site_id = s.id)
                ) j
                cross join lateral (
                    select v.rules
                    from rule_groups g
                    join rule_group_versions v on v.id = g.live_version_id
                    where g.id = j.id
                    offset 0
                ) v
                where json_array_length(v.rules) > 0
            ) as "has_rules!"
        from sites s
        where s.id = $1 and ($2::uuid is null or s.team_id = $2)
        "#,
        site.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    Ok(readiness)
}
