//! A team with a token, a list, and pictures that are put straight into the tables.

use domain::{
    actor::Actor,
    hash_list::EntryHashes,
    id::{HashListId, MediaId, TeamId, TokenId},
    image_hash::{ListKind, Pdq, Sha256Digest},
    reach::Reach,
};
use queue::{Effect, FinishTx, JobId, NewJobs, Survivor};
use sqlx::PgPool;
use store::{
    hash_list::{
        self, HashList, NewHashList,
        entry::{self, Addition, NewEntry},
    },
    plan, schema, team,
    token::{self, Grant, NewToken},
};
use uuid::Uuid;

pub(crate) struct Fixture {
    pub(crate) pool: PgPool,
    pub(crate) team: TeamId,
    pub(crate) token: TokenId,
    pub(crate) list: HashListId,
}

impl Fixture {
    pub(crate) async fn new(pool: PgPool) -> Self {
        schema::migrate(&pool).await.unwrap();
        Self::another(&pool, "team").await
    }

    /// Another team in the same database.
    pub(crate) async fn another(pool: &PgPool, name: &str) -> Self {
        let mut tx = pool.begin().await.unwrap();
        let name = name.parse().unwrap();
        let team = team::create(&mut tx, &name, plan::UNLIMITED)
            .await
            .unwrap()
            .id;
        let new = NewToken {
            name: &"Ada".parse().unwrap(),
            team: Some(team),
            scopes: &[],
            expires_at: None,
        };
        let (token, _) = token::create(&mut tx, &Grant::command_line(), new)
            .await
            .unwrap();
        tx.commit().await.unwrap();
        let mut fixture = Self {
            pool: pool.clone(),
            team,
            token: token.id,
            list: HashListId::from(Uuid::nil()),
        };
        fixture.list = fixture.create(Some(team), "list").await;
        fixture
    }

    pub(crate) async fn create(&self, team: Option<TeamId>, name: &str) -> HashListId {
        let mut conn = self.pool.acquire().await.unwrap();
        let new = NewHashList {
            team,
            name,
            description: "",
            kind: ListKind::Deny,
            max_distance: 31,
            by: Actor::Token(self.token),
        };
        hash_list::create(&mut conn, new).await.unwrap().unwrap()
    }

    pub(crate) async fn found(&self) -> HashList {
        let mut conn = self.pool.acquire().await.unwrap();
        let found = hash_list::find(&mut conn, Reach::Team(self.team), self.list).await;
        found.unwrap().unwrap()
    }

    pub(crate) async fn add(&self, hashes: EntryHashes) -> Addition {
        let mut tx = self.pool.begin().await.unwrap();
        hash_list::lock(&mut tx, Reach::Everything, self.list)
            .await
            .unwrap();
        let new = NewEntry {
            hashes,
            note: "",
            media: None,
        };
        let added = entry::add(&mut tx, self.list, new, Actor::Token(self.token)).await;
        tx.commit().await.unwrap();
        added.unwrap()
    }

    /// A stored picture of the team with these hashes.
    pub(crate) async fn picture(&self, hashes: EntryHashes) -> MediaId {
        let media = Uuid::now_v7();
        sqlx::query(
            "insert into sites (id, team_id, name, default_rule_group_id, webhook_secret)
             select $1, $1, 'site', id, '' from rule_groups where team_id = $1
             on conflict do nothing",
        )
        .bind(self.team.as_uuid())
        .execute(&self.pool)
        .await
        .unwrap();
        sqlx::query(
            "with item as (
                 insert into media (id, team_id, site_id, content_type, group_versions)
                 values ($1, $2, $2, 'image', '{}')
             )
             insert into media_images (media_id, format, sha256, pdq) values ($1, 'png', $3, $4)",
        )
        .bind(media)
        .bind(self.team.as_uuid())
        .bind(hashes.sha256().map(|hash| hash.as_bytes().to_vec()))
        .bind(hashes.pdq().map(|hash| hash.as_bytes().to_vec()))
        .execute(&self.pool)
        .await
        .unwrap();
        media.into()
    }

    /// What a finisher does with effects that ended together.
    pub(crate) async fn finish<E: Effect>(&self, effects: &[E]) -> NewJobs {
        let survivors: Vec<_> = effects
            .iter()
            .map(|effect| Survivor {
                job: JobId(1),
                attempt: 1,
                effect,
            })
            .collect();
        let mut db = self.pool.begin().await.unwrap();
        let mut tx = FinishTx {
            conn: &mut db,
            jobs: NewJobs::new(),
        };
        E::apply(&survivors, &mut tx).await.unwrap();
        let jobs = tx.jobs;
        db.commit().await.unwrap();
        jobs
    }

    pub(crate) async fn count(&self, statement: &'static str) -> i64 {
        sqlx::query_scalar(statement)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }
}

/// A PDQ hash whose first bytes are this number.
pub(crate) fn pdq(number: u32) -> EntryHashes {
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    EntryHashes::new(None, Some(Pdq::from(bytes))).unwrap()
}

/// Likewise the SHA-256 of a file.
pub(crate) fn sha256(number: u32) -> EntryHashes {
    let digest = Sha256Digest::of(&number.to_be_bytes());
    EntryHashes::new(Some(digest), None).unwrap()
}
