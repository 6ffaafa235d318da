//! The audit log of a demo.

use sqlx::{ConnectOptions as _, PgPool};

use super::count;
use crate::support::{DataDir, Receiver, Up};

#[sqlx::test(migrations = false)]
async fn a_demo_records_all_that_it_makes(pool: PgPool) {
    let database = pool.connect_options().to_url_lossy().to_string();
    let data = DataDir::new();
    for expected in [
        &[
            "team.create",
            "rule_group.create",
            "site.create",
            "key.create",
            "token.create",
            "endpoint.create",
        ][..],
        // The second receiver has another port.
        &["endpoint.update"],
    ] {
        let before = match count(
            &pool,
            "select count(*) from pg_class where relname = 'audit_log'",
        )
        .await
        {
            0 => 0,
            _ => count(&pool, "select count(*) from audit_log").await,
        };
        let receiver = Receiver::start().await;
        let options = [
            "--database-url",
            &database,
            "--webhook-url",
            &receiver.url(),
        ];
        let up = Up::start(&data, &options).await;
        let recorded: Vec<String> =
            sqlx::query_scalar("select action from audit_log order by id offset $1")
                .bind(before)
                .fetch_all(&pool)
                .await
                .unwrap();
        drop(up);
        assert_eq!(recorded, expected);
    }
}
