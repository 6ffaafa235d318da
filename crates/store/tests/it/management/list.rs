//! Lists of media: complete, in order, within their bounds, and only for their own team.

mod bounds;
mod by_name;
mod complete;
mod filters;

use std::ops::Range;

use domain::{
    id::{MediaId, SiteId},
    media::Status,
    reach::Reach,
};
use store::media::{Filter, Page, list};

use crate::tenant::Tenant;

impl Tenant {
    async fn page(
        &self,
        reach: Reach,
        filter: &Filter,
        after: Option<MediaId>,
        limit: usize,
    ) -> Page {
        let mut conn = self.pool.acquire().await.unwrap();
        list(&mut conn, reach, filter, after, limit).await.unwrap()
    }

    /// All pages of a list, one after the other.
    async fn pages(&self, reach: Reach, filter: &Filter, limit: usize) -> Vec<Vec<MediaId>> {
        let mut pages = Vec::new();
        let mut after = None;
        loop {
            let page = self.page(reach, filter, after, limit).await;
            assert!(page.media.len() <= limit);
            pages.push(page.media.iter().map(|listed| listed.media).collect());
            match page.next {
                Some(next) => after = Some(next),
                None => return pages,
            }
        }
    }
}

fn filter(status: Option<Status>) -> Filter {
    Filter {
        status,
        ..Filter::default()
    }
}

/// Items of a site with these consecutive ids, approved but for the oldest one, which is rejected.
async fn fill(fixture: &Tenant, site: SiteId, ids: Range<i32>) {
    sqlx::query(
        "insert into media (id, team_id, site_id, content_type, group_versions, status, verdict)
         select ('01980000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $2, 'text', '{}',
                case when n = $3 then 'rejected' else 'approved' end, 1
         from generate_series($3, $4 - 1) as n",
    )
    .bind(fixture.team.as_uuid())
    .bind(site.as_uuid())
    .bind(ids.start)
    .bind(ids.end)
    .execute(&fixture.pool)
    .await
    .unwrap();
}
