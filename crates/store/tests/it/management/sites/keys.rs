//! Sites' keys.

use sqlx::PgPool;
use store::site;

use super::ALL;
use crate::tenant::Tenant;

#[sqlx::test(migrations = false)]
async fn rotations_at_once_leave_one_key(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let rotate = async || {
        let mut tx = fixture.pool.begin().await.unwrap();
        let (id, _) = site::keys::rotate(&mut tx, fixture.site).await.unwrap();
        // Long enough for all others to begin too.
        sqlx::query("select pg_sleep(0.05)")
            .execute(&mut *tx)
            .await
            .unwrap();
        tx.commit().await.unwrap();
        id
    };
    tokio::join!(rotate(), rotate(), rotate(), rotate());
    let enabled = "select count(*) from site_keys where disabled_at is null";
    assert_eq!(fixture.count(enabled).await, 1);
}

#[sqlx::test(migrations = false)]
async fn a_key_is_disabled_once_and_belongs_to_its_site(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let site = fixture.create_site("first").await;
    let elsewhere = fixture.create_site("second").await;
    let mut conn = fixture.pool.acquire().await.unwrap();
    let (id, key) = site::keys::create(&mut conn, site).await.unwrap();

    let found = site::keys::find(&mut conn, site, id).await.unwrap();
    let found = found.unwrap();
    assert_eq!((found.id, found.hint.as_str()), (id, key.hint()));
    assert!(found.disabled_at.is_none());
    let missing = site::keys::find(&mut conn, elsewhere, id).await.unwrap();
    assert!(missing.is_none());

    assert!(site::keys::disable(&mut conn, id).await.unwrap());
    assert!(!site::keys::disable(&mut conn, id).await.unwrap());
    let listed = site::keys::list(&mut conn, site, ALL).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert!(listed[0].disabled_at.is_some());
    let others = site::keys::list(&mut conn, elsewhere, ALL).await.unwrap();
    assert!(others.is_empty());
}
