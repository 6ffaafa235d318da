//! What is forgotten of old backtests, and what stays.

use uuid::Uuid;

use super::*;
use crate::{
    plan,
    rule_group::{self, NewVersion},
    schema, team,
};

const DAYS_30: Duration = Duration::from_hours(30 * 24);

#[sqlx::test(migrations = false)]
async fn case_38_details_of_old_backtests_are_forgotten_and_their_counts_stay(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let mut tx = pool.begin().await.unwrap();
    let team = team::create(&mut tx, &"team".parse().unwrap(), plan::UNLIMITED)
        .await
        .unwrap()
        .id;
    let rules = NewVersion {
        rules: &[],
        categories: &[],
    };
    let group = rule_group::create(&mut tx, team, "rules", rules)
        .await
        .unwrap();
    tx.commit().await.unwrap();
    // Ended so many days ago, or not yet.
    for ended in [Some(40), Some(31), Some(29), None] {
        sqlx::query(
            "with backtest as (
                 insert into backtests
                     (id, team_id, rule_group_id, rules, until, item_limit, total, changed, listed, state, ended_at)
                 values
                     ($1, $2, $3, '[{}]', now(), 1, 1, 1, 1,
                      case when $4::int is null then 'running' else 'finished' end, now() - make_interval(days => $4))
                 returning id
             )
             insert into backtest_changes (backtest_id, media_id, old_status, new_status, decided, rule_ids)
             values ($1, $1, 'approved', 'rejected', 'rules', '{}')",
        )
        .bind(Uuid::now_v7())
        .bind(team.as_uuid())
        .bind(group.as_uuid())
        .bind(ended)
        .execute(&pool)
        .await
        .unwrap();
    }

    assert_eq!(forget_details(&pool, DAYS_30).await.unwrap(), 2);
    assert_eq!(forget_details(&pool, DAYS_30).await.unwrap(), 0);
    let left: Vec<(String, i64, i64)> = sqlx::query_as(
        "select b.rules::text, b.changed, count(c.media_id)
         from backtests b
         left join backtest_changes c on c.backtest_id = b.id
         group by b.id
         order by b.id",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    let forgotten = || ("[]".to_owned(), 1, 0);
    let kept = || ("[{}]".to_owned(), 1, 1);
    assert_eq!(left, [forgotten(), forgotten(), kept(), kept()]);
}
