//! Which reviews a lead can decide about at once: those that wait for a verdict, and that nobody has.

use domain::{
    author::Author,
    id::{ActorId, ReviewId, ReviewPolicyId, SiteId, TeamId},
    name::Name,
    review::{MOST_IN_BULK, Severity},
    score::Category,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Filter;
use crate::Error;

/// No more than this many reviews of a team are looked at, the most urgent ones.
const LOOKED_AT: i64 = 100_000;

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// The person or the token. Reviews that it has passed on or spoken about are left to others.
    pub actor: ActorId,
    /// Its team.
    pub team: TeamId,
    /// The sites whose items it may decide; none: all.
    pub sites: Option<&'a [SiteId]>,
}

impl Asker<'_> {
    pub(super) fn site_ids(&self) -> Option<Vec<Uuid>> {
        self.sites
            .map(|sites| sites.iter().map(|site| site.as_uuid()).collect())
    }
}

/// The reviews that are meant, the most urgent first. If there are more than [`MOST_IN_BULK`], these
/// and one more.
pub async fn matching(
    conn: &mut PgConnection,
    asker: Asker<'_>,
    filter: &Filter,
) -> Result<Vec<ReviewId>, Error> {
    let sites = asker.site_ids();
    let ids = sqlx::query_scalar!(
        r#"
        select t.id as "id!"
        from (
            select *
            from review_tasks
            where
                team_id = $1 and kind = 'review' and only_for is null and held_until is null
                and (leased_until is null or leased_until <= clock_timestamp())
                and $2 <> all(not_for)
                and ($3::uuid [] is null or site_id = any($3))
                and ($4::uuid is null or site_id = $4)
                and ($5::smallint is null or severity = $5)
            order by severity desc, due_at, id
            limit $10
        ) t
        where
            ($6::text is null or $6 = any(t.categories))
            and ($7::text is null or $7 = any(t.rules))
            and (
                $8::uuid is null
                or exists (
                    select
                    from review_policies p
                    where
                        p.id = $8 and p.team_id = t.team_id and p.disabled_at is null
                        and (p.categories && t.categories or p.rules && t.rules)
                )
            )
            and ($9::text is null or exists (select from media m where m.id = t.media_id and m.author = $9))
        order by t.severity desc, t.due_at, t.id
        limit $11
        "#,
        asker.team.as_uuid(),
        asker.actor.as_uuid(),
        sites.as_deref(),
        filter.site.map(SiteId::as_uuid),
        filter.severity.map(Severity::number),
        filter.category.map(Category::as_str),
        filter.rule.as_ref().map(Name::as_str),
        filter.policy.map(ReviewPolicyId::as_uuid),
        filter.author.as_ref().map(Author::as_str),
        LOOKED_AT,
        i64::try_from(MOST_IN_BULK).unwrap_or(i64::MAX).saturating_add(1),
    )
    .fetch_all(conn)
    .await?;
    Ok(ids.into_iter().map(ReviewId::from).collect())
}
