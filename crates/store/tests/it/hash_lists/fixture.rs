//! A tenant with a hash list, and pictures that are put straight into the tables.

use std::ops::Deref;

use domain::{
    actor::Actor,
    hash_list::EntryHashes,
    id::{HashListId, MediaId, TeamId},
    image_hash::{ListKind, Pdq, Sha256Digest},
    reach::Reach,
};
use sqlx::PgPool;
use store::hash_list::{
    self, HashList, NewHashList,
    entry::{self, Addition, NewEntry},
};
use uuid::Uuid;

use crate::tenant::Tenant;

pub(crate) struct Listed {
    tenant: Tenant,
    pub(crate) list: HashListId,
}

impl Deref for Listed {
    type Target = Tenant;

    fn deref(&self) -> &Tenant {
        &self.tenant
    }
}

impl Listed {
    pub(crate) async fn new(pool: PgPool) -> Self {
        Self::of(Tenant::new(pool).await).await
    }

    /// Another team in the same database.
    pub(crate) async fn another(pool: &PgPool, name: &str) -> Self {
        Self::of(Tenant::another(pool, name).await).await
    }

    async fn of(tenant: Tenant) -> Self {
        let team = tenant.team;
        let mut listed = Self {
            tenant,
            list: HashListId::from(Uuid::nil()),
        };
        listed.list = listed.create(Some(team), "list").await;
        listed
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
            "with item as (
                 insert into media (id, team_id, site_id, content_type, group_versions)
                 values ($1, $2, $5, 'image', '{}')
             )
             insert into media_images (media_id, format, sha256, pdq) values ($1, 'png', $3, $4)",
        )
        .bind(media)
        .bind(self.team.as_uuid())
        .bind(hashes.sha256().map(|hash| hash.as_bytes().to_vec()))
        .bind(hashes.pdq().map(|hash| hash.as_bytes().to_vec()))
        .bind(self.site.as_uuid())
        .execute(&self.pool)
        .await
        .unwrap();
        media.into()
    }
}

/// A PDQ hash whose first bytes are this number.
pub(crate) fn pdq(number: u32) -> EntryHashes {
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    EntryHashes::new(None, Some(Pdq::from(bytes))).unwrap()
}

/// The SHA-256 of a file, in the same way.
pub(crate) fn sha256(number: u32) -> EntryHashes {
    let digest = Sha256Digest::of(&number.to_be_bytes());
    EntryHashes::new(Some(digest), None).unwrap()
}
