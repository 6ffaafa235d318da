//! Rows from before the migration are counted, too, slice by slice.

use domain::media::Status;
use sqlx::PgPool;
use store::statistics::Subject;

use crate::tenant::Tenant;

#[sqlx::test(migrations = false)]
async fn rows_from_before_the_migration_are_counted_once(pool: PgPool) {
    let tenant = Tenant::new(pool).await;
    for _ in 0..2 {
        let item = tenant.item().await;
        tenant.judge(item, Status::Approved).await;
    }
    sqlx::query(
        "insert into media (id, team_id, site_id, content_type, body, group_versions)
         select gen_random_uuid(), $1, $2, 'text', 'text', '{}' from generate_series(1, 2500)",
    )
    .bind(tenant.team.as_uuid())
    .bind(tenant.site.as_uuid())
    .execute(&tenant.pool)
    .await
    .unwrap();
    // As the migration leaves them.
    tenant
        .execute(
            "update media set stored_by = null;
             update verdicts set stored_by = null;
             insert into statistics_backfill (source, until)
             (select 'media', id from media order by id desc limit 1)
             union all
             (select 'verdicts', media_id from verdicts order by media_id desc limit 1)",
        )
        .await;
    tenant.item().await;
    assert!(!tenant.report(Subject::Everything).await.has_history);

    let slices = tenant.add_up().await;
    assert!(slices >= 4, "{slices}");
    let figures = tenant.figures(Subject::Site(tenant.site)).await;
    assert_eq!(figures.accepted, 2_503);
    assert_eq!(figures.providers.approved, 2);
    assert!(tenant.report(Subject::Everything).await.has_history);
    tenant.add_up().await;
    assert_eq!(tenant.accepted().await, 2_503);
}
