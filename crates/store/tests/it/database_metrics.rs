//! The figures about the whole database.

use std::time::Duration;

use domain::id::TeamId;
use sqlx::{
    AssertSqlSafe, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use store::{
    audit::sealing::catch_up,
    database_metrics::{self, Blind, Dead, Endpoints, Reviews},
    schema,
};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::tenant::Tenant;

#[sqlx::test(migrations = false)]
async fn reviews_are_counted_and_the_oldest_is_found(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let mut conn = database_metrics::connect(&pool).await.unwrap();
    let none = Reviews {
        waiting: 0,
        oldest_seconds: 0.0,
        overdue: 0,
    };
    assert_eq!(database_metrics::reviews(&mut conn).await.unwrap(), none);

    sqlx::query(
        "insert into reviews (media_id, team_id, site_id, waiting_since)
         select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now() - make_interval(secs => n)
         from generate_series(1, 900) n",
    )
    .execute(&pool)
    .await
    .unwrap();
    let reviews = database_metrics::reviews(&mut conn).await.unwrap();
    assert_eq!(reviews.waiting, 900);
    assert!(
        (900.0..1_800.0).contains(&reviews.oldest_seconds),
        "{reviews:?}"
    );
    assert_eq!(reviews.overdue, 0, "people have a day for each of them");
    sqlx::query(
        "update review_tasks t set due_at = now() - interval '1 minute'
         from (select id from review_tasks limit 7) late where t.id = late.id",
    )
    .execute(&pool)
    .await
    .unwrap();
    assert_eq!(
        database_metrics::reviews(&mut conn).await.unwrap().overdue,
        7
    );
    // What somebody has decided is not late any more.
    sqlx::query("update review_tasks set held_until = now() where due_at < now()")
        .execute(&pool)
        .await
        .unwrap();
    assert_eq!(
        database_metrics::reviews(&mut conn).await.unwrap().overdue,
        0
    );

    sqlx::query(
        "insert into reviews (media_id, team_id, site_id)
         select gen_random_uuid(), gen_random_uuid(), gen_random_uuid()
         from generate_series(1, $1)",
    )
    .bind(database_metrics::COUNTED)
    .execute(&pool)
    .await
    .unwrap();
    let reviews = database_metrics::reviews(&mut conn).await.unwrap();
    assert_eq!(reviews.waiting, database_metrics::COUNTED);
}

#[sqlx::test(migrations = false)]
async fn endpoints_are_counted_by_the_state_of_their_deliveries(pool: PgPool) {
    let tenant = Tenant::new(pool).await;
    sqlx::query(
        "insert into webhook_endpoints (id, site_id, url, events, disabled_at, deleted_at)
         select gen_random_uuid(), $1, 'https://example.com/' || n, '{}',
                case when n > 10 then now() end, case when n > 13 then now() end
         from generate_series(1, 15) n",
    )
    .bind(tenant.site.as_uuid())
    .execute(&tenant.pool)
    .await
    .unwrap();
    // A limit of requests has a row, too. The last is of a disabled endpoint.
    for (url, failing, open) in [
        (1, false, false),
        (2, true, false),
        (3, true, true),
        (4, false, true),
        (11, true, true),
    ] {
        sqlx::query(
            "insert into webhook_endpoint_states (endpoint_id, failing_since, open_until)
             select id, case when $2 then now() end, case when $3 then now() end
             from webhook_endpoints where url = $1",
        )
        .bind(format!("https://example.com/{url}"))
        .bind(failing)
        .bind(open)
        .execute(&tenant.pool)
        .await
        .unwrap();
    }
    let mut conn = database_metrics::connect(&tenant.pool).await.unwrap();
    assert_eq!(
        database_metrics::endpoints(&mut conn).await.unwrap(),
        Endpoints {
            working: 7,
            failing: 1,
            open: 2,
            disabled: 3,
        }
    );
}

#[sqlx::test(migrations = false)]
async fn postgres_reports_about_itself(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let mut conn = database_metrics::connect(&pool).await.unwrap();
    let visibility = database_metrics::visibility(&mut conn).await.unwrap();
    assert!(visibility.blind().is_empty(), "{visibility:?}");
    let open = pool.begin().await.unwrap();
    sleep(Duration::from_millis(300)).await;
    let oldest = database_metrics::oldest_transaction(&mut conn, &visibility);
    assert!(oldest.await.unwrap().unwrap() >= 0.3);
    open.rollback().await.unwrap();

    assert!(database_metrics::database_bytes(&mut conn).await.unwrap() > 1 << 20);
    assert!(database_metrics::wal_bytes(&mut conn).await.unwrap() > 0.0);
    let files = database_metrics::wal_files(&mut conn, &visibility)
        .await
        .unwrap();
    let kept = database_metrics::wal_kept(&mut conn).await.unwrap();
    let segment = f64::from(16 << 20);
    assert!(files.unwrap() >= segment && kept.target >= segment);
    assert!(kept.by_slots.abs() < 1.0);
    let dead = database_metrics::dead_tuples(&mut conn, &visibility)
        .await
        .unwrap();
    let has = |name| dead.iter().any(|Dead { table, .. }| table == name);
    assert!(has("queue.jobs") && has("media"), "{dead:?}");
}

#[sqlx::test(migrations = false)]
async fn what_postgres_hides_from_a_role_is_absent_until_it_is_granted(
    _: PgPoolOptions,
    database: PgConnectOptions,
) {
    let admin = PgPool::connect_with(database.clone()).await.unwrap();
    schema::migrate(&admin).await.unwrap();
    let role = format!("plain_{}", Uuid::now_v7().simple());
    run(&admin, format!("create role {role}")).await;
    let limited = database.options([("role", role.as_str())]);
    let limited = PgPool::connect_with(limited).await.unwrap();
    let open = admin.begin().await.unwrap();
    sleep(Duration::from_millis(300)).await;

    let seen = async || {
        let mut conn = database_metrics::connect(&limited).await.unwrap();
        let visibility = database_metrics::visibility(&mut conn).await.unwrap();
        let oldest = database_metrics::oldest_transaction(&mut conn, &visibility);
        let oldest = oldest.await.unwrap();
        let files = database_metrics::wal_files(&mut conn, &visibility)
            .await
            .unwrap();
        (visibility, oldest, files)
    };
    let hidden = seen().await;
    let told: Vec<String> = hidden.0.blind().into_iter().map(remedy).collect();
    // The statements for an administrator are what helps.
    for statement in [
        format!("grant pg_read_all_stats to {role}"),
        format!("grant execute on function pg_ls_waldir() to {role}"),
    ] {
        run(&admin, statement).await;
    }
    let shown = seen().await;
    open.rollback().await.unwrap();
    limited.close().await;
    run(&admin, format!("drop owned by {role}; drop role {role}")).await;

    assert_eq!((hidden.1, hidden.2), (None, None));
    assert!(
        told.len() == 2
            && told[0].contains(&format!("`grant pg_read_all_stats to {role}`"))
            && told[1].contains(&format!("on function pg_ls_waldir() to {role}`")),
        "{told:?}"
    );
    assert!(shown.0.blind().is_empty(), "{:?}", shown.0);
    assert!(shown.1.unwrap() >= 0.3 && shown.2.unwrap() > 0.0);
}

#[sqlx::test(migrations = false)]
async fn what_the_server_does_not_track_is_absent(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let mut conn = database_metrics::connect(&pool).await.unwrap();
    sqlx::raw_sql("set track_activities = off; set track_counts = off")
        .execute(&mut conn)
        .await
        .unwrap();
    let visibility = database_metrics::visibility(&mut conn).await.unwrap();
    let told: Vec<String> = visibility.blind().into_iter().map(remedy).collect();
    assert!(
        told.len() == 2 && told[0].contains("track_activities") && told[1].contains("track_counts"),
        "{told:?}"
    );
    let oldest = database_metrics::oldest_transaction(&mut conn, &visibility);
    assert_eq!(oldest.await.unwrap(), None);
    let dead = database_metrics::dead_tuples(&mut conn, &visibility)
        .await
        .unwrap();
    assert!(dead.is_empty(), "{dead:?}");
    // The server of the tests does not archive.
    let archiving = database_metrics::archiving(&mut conn, &visibility)
        .await
        .unwrap();
    assert_eq!(archiving, None);
}

/// What an administrator can do about something hidden.
fn remedy(blind: Blind) -> String {
    match blind {
        Blind::Transactions(why) | Blind::DeadTuples(why) | Blind::WalFiles(why) => why,
    }
}

async fn run(pool: &PgPool, sql: String) {
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(pool)
        .await
        .unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_locked_table_holds_no_figure_up_for_long_and_nothing_is_written(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let mut conn = database_metrics::connect(&pool).await.unwrap();
    let mut somebody = pool.begin().await.unwrap();
    sqlx::query("lock table reviews in access exclusive mode")
        .execute(&mut *somebody)
        .await
        .unwrap();
    let asked = timeout(Duration::from_mins(2), database_metrics::reviews(&mut conn)).await;
    assert!(asked.expect("it gives up").is_err());
    somebody.rollback().await.unwrap();
    assert!(database_metrics::reviews(&mut conn).await.is_ok());

    let written = sqlx::query("delete from reviews").execute(&mut conn).await;
    let error = written.unwrap_err();
    assert_eq!(
        error.as_database_error().unwrap().code().as_deref(),
        Some("25006")
    );
}

#[sqlx::test(migrations = false)]
async fn the_oldest_entry_of_the_audit_log_that_is_not_sealed_is_found_in_any_chain(pool: PgPool) {
    let tenant = Tenant::new(pool.clone()).await;
    let other = Tenant::another(&pool, "other").await;
    catch_up(&pool).await.unwrap();
    let mut conn = database_metrics::connect(&pool).await.unwrap();
    assert_eq!(
        database_metrics::oldest_unsealed(&mut conn).await.unwrap(),
        Some(0.0)
    );
    for (team, minutes) in [
        (None, 1),
        (Some(tenant.team), 2),
        (Some(other.team), 2),
        (Some(tenant.team), 9),
        (Some(other.team), 5),
    ] {
        sqlx::query(
            "insert into audit_log (id, team_id, actor, action, details, occurred_at)
             values (gen_random_uuid(), $1, 'command_line', 'site.update', '{}', now() - make_interval(mins => $2))",
        )
        .bind(team.map(TeamId::as_uuid))
        .bind(minutes)
        .execute(&pool)
        .await
        .unwrap();
    }
    let oldest = database_metrics::oldest_unsealed(&mut conn)
        .await
        .unwrap()
        .unwrap();
    assert!((540.0..600.0).contains(&oldest), "{oldest}");
    catch_up(&pool).await.unwrap();
    assert_eq!(
        database_metrics::oldest_unsealed(&mut conn).await.unwrap(),
        Some(0.0)
    );

    let drop_index = "drop index audit_log_unsealed_idx";
    sqlx::query(drop_index).execute(&pool).await.unwrap();
    assert_eq!(
        database_metrics::oldest_unsealed(&mut conn).await.unwrap(),
        None
    );
}
