//! Retention removes rows at the beginning of each chain only, and what is left verifies.

use std::time::Duration;

use domain::audit::chain::Finding;
use sqlx::PgPool;
use store::audit::{retention::forget_old, sealing::catch_up, verify::Report};

use super::{NO_TEAM, add, count, finding, head, run, tamper, team, verify};

const YEAR: Duration = Duration::from_hours(365 * 24);

/// A chain of 1,500 rows and one of 6,500, one row for every hour. Of each, all but 1,300 are older than this age.
async fn hourly(pool: &PgPool) -> Duration {
    store::schema::migrate(pool).await.unwrap();
    let rows = "
        insert into audit_log (id, team_id, actor, action, details, occurred_at)
        select gen_random_uuid(), t.id, 'command_line', 'team.update', '{}', now() - n * interval '1 hour'
        from generate_series(0, 6499) n
        cross join (values (null), ('00000000-0000-0000-0000-000000000001'::uuid)) t(id)
        where t.id is not null or n < 1500";
    run(pool, rows).await.unwrap();
    assert_eq!(catch_up(pool).await.unwrap(), 8_000);
    Duration::from_mins(1_300 * 60 - 30)
}

#[sqlx::test(migrations = false)]
async fn case_88_old_entries_are_removed_and_the_rest_still_verifies(pool: PgPool) {
    let age = hourly(&pool).await;
    let known = head(&pool, team(1)).await;
    assert_eq!(forget_old(&pool, age).await.unwrap(), 200 + 5_200);
    assert_eq!(forget_old(&pool, age).await.unwrap(), 0);
    for (chain, removed) in [(NO_TEAM, 200), (team(1), 5_200)] {
        let Report { finding, walk } = verify(&pool, chain, None).await;
        let (rows, start) = (walk.rows(), walk.start().number);
        assert_eq!((finding, rows, start), (None, 1_300, removed));
    }
    assert_eq!(verify(&pool, team(1), Some(known)).await.finding, None);
    // It is not possible to go back.
    let back = "update audit_chains set start_number = 0";
    assert!(run(&pool, back).await.is_err());

    // What was left is not removable by hand, and the chain goes on.
    assert!(
        run(&pool, "delete from audit_log where chain_number = 5201")
            .await
            .is_err()
    );
    add(&pool, team(1), 2).await;
    assert_eq!(verify(&pool, team(1), None).await.walk.rows(), 1_302);

    // Everything is old.
    assert_eq!(forget_old(&pool, Duration::ZERO).await.unwrap(), 2_602);
    assert_eq!(count(&pool, "select count(*) from audit_log").await, 0);
    add(&pool, team(1), 1).await;
    let Report { finding, walk } = verify(&pool, team(1), None).await;
    assert_eq!((finding, walk.at().number, walk.rows()), (None, 6_503, 1));
}

/// A row in the middle that looks old does not take the rows before it with it.
#[sqlx::test(migrations = false)]
async fn case_88_only_the_beginning_of_a_chain_is_removed(pool: PgPool) {
    super::sealed(&pool, NO_TEAM, 3).await;
    let old = "
        insert into audit_log (id, actor, action, details, occurred_at)
        values (gen_random_uuid(), 'command_line', 'team.update', '{}', now() - interval '3 years')";
    run(&pool, old).await.unwrap();
    catch_up(&pool).await.unwrap();
    assert_eq!(forget_old(&pool, YEAR).await.unwrap(), 0);
    assert_eq!(finding(&pool, NO_TEAM).await, None);
}

/// The beginning that somebody moved by hand without deleting the rows, or with other rows.
#[sqlx::test(migrations = false)]
async fn a_beginning_that_does_not_fit_is_found(pool: PgPool) {
    super::sealed(&pool, NO_TEAM, 4).await;
    tamper(
        &pool,
        "update audit_chains set start_number = 1, start_hash = decode(repeat('ab', 32), 'hex')",
    )
    .await;
    let id = super::row(&pool, 1).await;
    let inserted = Finding::Inserted { number: 1, id };
    assert_eq!(finding(&pool, NO_TEAM).await, Some(inserted));
    tamper(&pool, "delete from audit_log where chain_number = 1").await;
    let id = super::row(&pool, 2).await;
    let changed = Finding::Changed { number: 2, id };
    assert_eq!(finding(&pool, NO_TEAM).await, Some(changed));
}
