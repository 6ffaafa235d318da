//! How many answers there are, for how long, and whose they are.

use domain::score::Category;
use tokio::task::JoinSet;

use super::*;
use crate::schema;

/// A team with a site whose answers hold for so many seconds.
struct Holder {
    pool: PgPool,
    id: Uuid,
}

impl Holder {
    async fn new(pool: &PgPool, seconds: Option<i32>) -> Self {
        let id = Uuid::now_v7();
        for statement in [
            "insert into teams (id, name) values ($1, $1::text)",
            "with version as (
                 insert into rule_group_versions (id, rule_group_id, number, rules, uses_ai)
                 values ($1, $1, 1, '[]', false)
             )
             insert into rule_groups (id, team_id, name, live_version_id) values ($1, $1, 'rules', $1)",
            "insert into sites (id, team_id, name, default_rule_group_id, webhook_secret) values ($1, $1, 'site', $1, '')",
        ] {
            sqlx::query(statement).bind(id).execute(pool).await.unwrap();
        }
        let holder = Self {
            pool: pool.clone(),
            id,
        };
        holder.hold(seconds).await;
        holder
    }

    async fn hold(&self, seconds: Option<i32>) {
        sqlx::query("update sites set answer_cache_seconds = $2 where id = $1")
            .bind(self.id)
            .bind(seconds)
            .execute(&self.pool)
            .await
            .unwrap();
    }

    /// An answer to a text of its own.
    async fn answer(&self, text: u8) -> NewAnswer {
        let media = Uuid::now_v7();
        sqlx::query(
            "insert into media (id, team_id, site_id, content_type, body, group_versions)
             values ($1, $2, $2, 'text', 'text', '{}')",
        )
        .bind(media)
        .bind(self.id)
        .execute(&self.pool)
        .await
        .unwrap();
        NewAnswer {
            media: media.into(),
            key: key(text),
            scores: [(Category::Spam, 0.5)].into_iter().collect(),
        }
    }

    async fn keep(&self, answers: &Answers, text: u8) {
        let answer = self.answer(text).await;
        answers.keep(self.id.into(), answer).await.unwrap();
    }

    async fn finds(&self, answers: &Answers, text: u8) -> bool {
        let found = answers.find(self.id.into(), self.id.into(), key(text));
        found.await.unwrap().is_some()
    }

    async fn count(&self) -> i64 {
        sqlx::query_scalar("select count(*) from cached_answers where team_id = $1")
            .bind(self.id)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }
}

fn key(text: u8) -> AnswerKey {
    AnswerKey([text; 32])
}

#[sqlx::test(migrations = false)]
async fn case_72_a_team_never_has_more_answers_than_the_limit_and_none_of_another_team(
    pool: PgPool,
) {
    schema::migrate(&pool).await.unwrap();
    let processes = [Answers::new(&pool, 5), Answers::new(&pool, 5)];
    let (loud, quiet) = (
        Holder::new(&pool, Some(60)).await,
        Holder::new(&pool, Some(60)).await,
    );
    quiet.keep(&processes[0], 1).await;
    let mut keeping = JoinSet::new();
    for text in 0..100 {
        let (answer, team) = (loud.answer(text).await, loud.id.into());
        let answers = processes[usize::from(text % 2)].clone();
        keeping.spawn(async move { answers.keep(team, answer).await });
    }
    for kept in keeping.join_all().await {
        kept.unwrap();
    }
    assert_eq!(loud.count().await, 5);
    assert!(quiet.finds(&processes[1], 1).await);

    // One after the other, the oldest leaves.
    for text in 200..206 {
        loud.keep(&processes[0], text).await;
    }
    let mut found = Vec::new();
    for text in 200..206 {
        found.push(loud.finds(&processes[1], text).await);
    }
    assert_eq!(found, [false, true, true, true, true, true]);
    assert!(!quiet.finds(&processes[1], 205).await, "it is another's");
    // With fewer slots, too.
    let fewer = Answers::new(&pool, 2);
    for text in 210..220 {
        loud.keep(&fewer, text).await;
    }
    assert_eq!(loud.count().await, 5);
    assert!(loud.finds(&fewer, 219).await && !loud.finds(&fewer, 217).await);
}

#[sqlx::test(migrations = false)]
async fn equal_texts_have_one_answer_and_a_site_that_keeps_none_has_none(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let answers = Answers::new(&pool, 100);
    let holder = Holder::new(&pool, Some(60)).await;
    let mut keeping = JoinSet::new();
    for _ in 0..20 {
        let (answer, team) = (holder.answer(1).await, holder.id.into());
        let answers = answers.clone();
        keeping.spawn(async move { answers.keep(team, answer).await });
    }
    assert!(keeping.join_all().await.iter().all(Result::is_ok));
    assert_eq!(holder.count().await, 1);
    let off = Holder::new(&pool, None).await;
    off.keep(&answers, 1).await;
    assert_eq!(off.count().await, 0);
    assert!(!off.finds(&answers, 1).await);
}

#[sqlx::test(migrations = false)]
async fn what_is_too_old_is_removed_and_nothing_else(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let answers = Answers::new(&pool, 100);
    let (short, long, off) = (
        Holder::new(&pool, Some(60)).await,
        Holder::new(&pool, Some(3_600)).await,
        Holder::new(&pool, Some(60)).await,
    );
    for holder in [&short, &long, &off] {
        holder.keep(&answers, 1).await;
    }
    sqlx::query("update cached_answers set created_at = now() - interval '2 minutes'")
        .execute(&pool)
        .await
        .unwrap();
    short.keep(&answers, 2).await;
    off.hold(None).await;
    assert_eq!(forget_old(&pool).await.unwrap(), 2);
    assert_eq!(forget_old(&pool).await.unwrap(), 0);
    assert!(!short.finds(&answers, 1).await && short.finds(&answers, 2).await);
    assert!(long.finds(&answers, 1).await);
    assert_eq!(off.count().await, 0);
}
