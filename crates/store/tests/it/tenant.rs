//! A team with everything that tests of the store need: a rule group, a site with a key, and a
//! token.

use chrono::{DateTime, Utc};
use domain::{
    id::{MediaId, RuleGroupId, SiteId, TeamId, TokenId},
    key::SiteKey,
    media::{ModerationType, Status},
    score::Category,
};
use queue::{Effect, FinishTx, JobId, NewJobs, Survivor};
use sqlx::PgPool;
use store::{
    encryption::MasterKey,
    item_progress::Progress,
    plan,
    rule_group::{self, NewVersion},
    schema, site, team,
    token::{self, Grant, NewToken},
    verdict::Concluded,
};
use uuid::Uuid;

pub(crate) struct Tenant {
    pub(crate) pool: PgPool,
    pub(crate) team: TeamId,
    pub(crate) group: RuleGroupId,
    pub(crate) site: SiteId,
    pub(crate) key: SiteKey,
    /// Ada's.
    pub(crate) token: TokenId,
}

/// A team that is about to be created. Each setting has a default.
pub(crate) struct NewTenant<'a> {
    name: &'a str,
    categories: &'a [Category],
}

impl<'a> NewTenant<'a> {
    /// A team of this name, whose rules ask for no category.
    pub(crate) const fn named(name: &'a str) -> Self {
        Self {
            name,
            categories: &[],
        }
    }

    /// Its rules ask for these categories, so that its items are analysed.
    pub(crate) const fn asking(self, categories: &'a [Category]) -> Self {
        Self { categories, ..self }
    }

    /// Creates it, in a database that has the schema.
    pub(crate) async fn create(self, pool: &PgPool) -> Tenant {
        let mut tx = pool.begin().await.unwrap();
        let name = self.name.parse().unwrap();
        let team = team::create(&mut tx, &name, plan::UNLIMITED)
            .await
            .unwrap()
            .id;
        let version = NewVersion {
            rules: &[],
            categories: self.categories,
        };
        let group = rule_group::create(&mut tx, team, "rules", version)
            .await
            .unwrap();
        let (site, _) = site::create(&mut tx, &master_key(), team, "site", group)
            .await
            .unwrap();
        let (_, key) = site::keys::create(&mut tx, site).await.unwrap();
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
        Tenant {
            pool: pool.clone(),
            team,
            group,
            site,
            key,
            token: token.id,
        }
    }
}

impl Tenant {
    /// A database with the schema, and a team in it.
    pub(crate) async fn new(pool: PgPool) -> Self {
        schema::migrate(&pool).await.unwrap();
        Self::another(&pool, "team").await
    }

    /// Another team in the same database.
    pub(crate) async fn another(pool: &PgPool, name: &str) -> Self {
        NewTenant::named(name).create(pool).await
    }

    /// Another site, under the team's rules.
    pub(crate) async fn create_site(&self, name: &str) -> SiteId {
        let mut conn = self.pool.acquire().await.unwrap();
        let (site, _) = site::create(&mut conn, &master_key(), self.team, name, self.group)
            .await
            .unwrap();
        site
    }

    pub(crate) async fn create_group(&self, name: &str) -> RuleGroupId {
        let mut tx = self.pool.begin().await.unwrap();
        let group = rule_group::create(&mut tx, self.team, name, NO_RULES)
            .await
            .unwrap();
        tx.commit().await.unwrap();
        group
    }

    /// An item of the site that is pending.
    pub(crate) async fn item(&self) -> MediaId {
        self.item_of(self.site, Utc::now(), None).await
    }

    /// An item of a site, accepted at this time.
    pub(crate) async fn item_of(
        &self,
        site: SiteId,
        created_at: DateTime<Utc>,
        app_media_id: Option<&str>,
    ) -> MediaId {
        let (seconds, nanos) = (created_at.timestamp(), created_at.timestamp_subsec_nanos());
        let time = uuid::Timestamp::from_unix(uuid::NoContext, seconds.try_into().unwrap(), nanos);
        let id = Uuid::new_v7(time);
        sqlx::query(
            "insert into media (id, team_id, site_id, content_type, app_media_id, body, group_versions, created_at)
             values ($1, $2, $3, 'text', $4, 'text', '{}', $5)",
        )
        .bind(id)
        .bind(self.team.as_uuid())
        .bind(site.as_uuid())
        .bind(app_media_id)
        .bind(created_at)
        .execute(&self.pool)
        .await
        .unwrap();
        id.into()
    }

    /// The machine's verdict on an item, as a worker's finisher stores it. Returns the jobs that
    /// follow.
    pub(crate) async fn judge(&self, media: MediaId, status: Status) -> NewJobs {
        let effect = Progress::from(Concluded {
            media,
            status,
            moderation_type: ModerationType::Ai,
            details: r#"{"rule_violations":[],"reason":"the machine's"}"#.into(),
            trace: r#"{"unchecked":[]}"#.into(),
            shadows: Vec::new(),
        });
        self.finish(&[effect]).await
    }

    /// Applies effects that ended together, as the queue does. Returns the jobs that follow.
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

    /// Runs statements, one or several.
    pub(crate) async fn execute(&self, statements: &'static str) {
        sqlx::raw_sql(statements).execute(&self.pool).await.unwrap();
    }
}

/// The key that seals the secrets of every tenant.
fn master_key() -> MasterKey {
    MasterKey::new([7; 32])
}

const NO_RULES: NewVersion<'_> = NewVersion {
    rules: &[],
    categories: &[],
};
