//! What somebody does who can turn off the triggers: each change is found, and the row is named.

use domain::audit::chain::{ChainId, Finding, Link};
use sqlx::{PgPool, Row as _};
use store::audit::sealing::catch_up;
use uuid::Uuid;

use super::{NO_TEAM, add, finding, head, record, row, run, sealed, tamper, team, verify};

#[sqlx::test(migrations = false)]
async fn case_85_a_change_of_any_column_is_found(pool: PgPool) {
    let chain = team(1);
    sealed(&pool, chain, 5).await;
    let id = row(&pool, 3).await;
    for change in [
        "actor = 'token', actor_id = gen_random_uuid()",
        "action = 'team.create'",
        "target_id = null",
        "target_id = gen_random_uuid()",
        "details = '{}'",
        "details = replace(details::text, ':', ': ')::json",
        "request_id = null",
        "request_id = 'other'",
        "trace_id = decode(repeat('00', 16), 'hex')",
        "occurred_at = occurred_at + interval '1 microsecond'",
        "chain_hash = decode(repeat('00', 32), 'hex')",
    ] {
        let saved = "create table saved as select * from audit_log where chain_number = 3";
        run(&pool, saved).await.unwrap();
        tamper(
            &pool,
            &format!("update audit_log set {change} where chain_number = 3"),
        )
        .await;
        let found = Finding::Changed { number: 3, id };
        assert_eq!(finding(&pool, chain).await, Some(found), "{change}");
        tamper(
            &pool,
            "delete from audit_log where chain_number = 3; insert into audit_log select * from saved; drop table saved",
        )
        .await;
        assert_eq!(finding(&pool, chain).await, None, "{change}");
    }
}

#[sqlx::test(migrations = false)]
async fn case_85_an_entry_that_moves_to_another_team_is_found(pool: PgPool) {
    sealed(&pool, team(1), 3).await;
    let other = team(2);
    tamper(
        &pool,
        &format!(
            "update audit_log set team_id = '{}'; update audit_chains set chain = '{0}'",
            other.as_uuid()
        ),
    )
    .await;
    let id = row(&pool, 1).await;
    let changed = Finding::Changed { number: 1, id };
    assert_eq!(finding(&pool, other).await, Some(changed));
}

#[sqlx::test(migrations = false)]
async fn case_85_missing_entries_are_found_at_every_place(pool: PgPool) {
    sealed(&pool, NO_TEAM, 6).await;
    for (removed, from, to) in [
        ("chain_number = 1", 1, 1),
        ("chain_number in (3, 4)", 3, 4),
        ("chain_number = 6", 6, 6),
        ("true", 1, 6),
    ] {
        let saved = format!("create table saved as select * from audit_log where {removed}");
        run(&pool, &saved).await.unwrap();
        tamper(&pool, &format!("delete from audit_log where {removed}")).await;
        assert_eq!(
            finding(&pool, NO_TEAM).await,
            Some(Finding::Missing { from, to }),
            "{removed}"
        );
        tamper(
            &pool,
            "insert into audit_log select * from saved; drop table saved",
        )
        .await;
    }
    assert_eq!(finding(&pool, NO_TEAM).await, None);
}

/// A row in the middle, a row at the end, and a second row with the same number.
#[sqlx::test(migrations = false)]
async fn case_85_inserted_and_renumbered_entries_are_found(pool: PgPool) {
    sealed(&pool, NO_TEAM, 4).await;
    let id = Uuid::from_u128(9);
    let insert = |number: i64| {
        format!(
            "insert into audit_log (id, actor, action, details, chain_number, chain_hash)
             values ('{id}', 'command_line', 'team.update', '{{}}', {number}, decode(repeat('00', 32), 'hex'));"
        )
    };
    let remove = format!("delete from audit_log where id = '{id}'");
    for number in [-1, 0, 5, 6] {
        tamper(&pool, &insert(number)).await;
        let inserted = Finding::Inserted { number, id };
        assert_eq!(finding(&pool, NO_TEAM).await, Some(inserted));
        tamper(&pool, &remove).await;
    }
    let second = format!("drop index audit_log_chain_key; {}", insert(2));
    tamper(&pool, &second).await;
    // Which of the two is the first one depends on the id: this one is.
    let changed = Finding::Changed { number: 2, id };
    assert_eq!(finding(&pool, NO_TEAM).await, Some(changed));
    tamper(&pool, &remove).await;
    // All rows from the third one on get other numbers.
    tamper(
        &pool,
        &format!(
            "update audit_log set chain_number = chain_number + 1 where chain_number > 2; {}
             update audit_chains set head_number = 5",
            insert(3)
        ),
    )
    .await;
    let changed = Finding::Changed { number: 3, id };
    assert_eq!(finding(&pool, NO_TEAM).await, Some(changed));
}

#[sqlx::test(migrations = false)]
async fn a_wrong_or_missing_head_is_found(pool: PgPool) {
    sealed(&pool, NO_TEAM, 3).await;
    let last = head(&pool, NO_TEAM).await;
    tamper(
        &pool,
        "update audit_chains set head_hash = decode(repeat('ab', 32), 'hex')",
    )
    .await;
    let head = head(&pool, NO_TEAM).await;
    let wrong = Finding::Head { last, head };
    assert_eq!(finding(&pool, NO_TEAM).await, Some(wrong));
    tamper(&pool, "delete from audit_chains").await;
    assert_eq!(finding(&pool, NO_TEAM).await, Some(Finding::NoHead));
}

/// Who can change everything can compute everything again. Only a head that is kept elsewhere shows
/// it.
#[sqlx::test(migrations = false)]
async fn case_86_a_known_head_shows_that_the_end_was_cut_off_or_all_was_recomputed(pool: PgPool) {
    let chain = team(1);
    sealed(&pool, chain, 4).await;
    let known = head(&pool, chain).await;
    assert_eq!(verify(&pool, chain, Some(known)).await.finding, None);

    forge(&pool, chain, "true", "action = 'team.create'").await;
    assert_eq!(finding(&pool, chain).await, None);
    let found = head(&pool, chain).await;
    assert_eq!(
        verify(&pool, chain, Some(known)).await.finding,
        Some(Finding::Rewritten { known, found })
    );

    let known = found;
    forge(&pool, chain, "chain_number <= 2", "action = action").await;
    assert_eq!(finding(&pool, chain).await, None);
    let last = head(&pool, chain).await;
    assert_eq!(
        verify(&pool, chain, Some(known)).await.finding,
        Some(Finding::CutOff { known, last })
    );
    // The chain goes on over the forgery, and the known head still shows it.
    add(&pool, chain, 3).await;
    assert_eq!(finding(&pool, chain).await, None);
    let found: Link = {
        let row = sqlx::query("select chain_hash from audit_log where chain_number = 4")
            .fetch_one(&pool)
            .await
            .unwrap();
        let hash: Vec<u8> = row.get(0);
        format!("4:{}", hex(&hash)).parse().unwrap()
    };
    assert_eq!(
        verify(&pool, chain, Some(known)).await.finding,
        Some(Finding::Rewritten { known, found })
    );
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Keeps only some rows, changes them, and has the service seal them as if they were new.
async fn forge(pool: &PgPool, chain: ChainId, kept: &str, change: &str) {
    tamper(
        pool,
        &format!(
            "delete from audit_log where not ({kept});
             update audit_log set {change}, chain_number = null, chain_hash = null;
             delete from audit_chains where chain = '{}'",
            chain.as_uuid()
        ),
    )
    .await;
    catch_up(pool).await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn old_rows_without_a_number_are_found_unless_their_chain_is_being_sealed(pool: PgPool) {
    sealed(&pool, NO_TEAM, 2).await;
    record(&pool, NO_TEAM).await;
    assert_eq!(finding(&pool, NO_TEAM).await, None);
    let age = "update audit_log set occurred_at = occurred_at - interval '2 minutes' where chain_number is null";
    tamper(&pool, age).await;
    assert_eq!(finding(&pool, NO_TEAM).await, None);
    tamper(
        &pool,
        "update audit_chains set sealed_at = sealed_at - interval '2 minutes'",
    )
    .await;
    let (id, occurred_at) =
        sqlx::query_as("select id, occurred_at from audit_log where chain_number is null")
            .fetch_one(&pool)
            .await
            .unwrap();
    let unsealed = Finding::Unsealed { id, occurred_at };
    assert_eq!(finding(&pool, NO_TEAM).await, Some(unsealed));
}

/// More rows than one statement reads.
#[sqlx::test(migrations = false)]
async fn case_85_a_change_far_behind_is_found(pool: PgPool) {
    store::schema::migrate(&pool).await.unwrap();
    let rows = "
        insert into audit_log (id, actor, action, details)
        select gen_random_uuid(), 'command_line', 'team.update', '{}' from generate_series(1, 1700)";
    run(&pool, rows).await.unwrap();
    catch_up(&pool).await.unwrap();
    let report = verify(&pool, NO_TEAM, None).await;
    assert_eq!((report.finding, report.walk.rows()), (None, 1_700));
    for number in [1, 500, 501, 1_000, 1_001, 1_700] {
        let id = row(&pool, number).await;
        let change =
            |action: &str| format!("update audit_log set action = '{action}' where id = '{id}'");
        tamper(&pool, &change("team.create")).await;
        let changed = Finding::Changed { number, id };
        assert_eq!(finding(&pool, NO_TEAM).await, Some(changed));
        tamper(&pool, &change("team.update")).await;
    }
}
