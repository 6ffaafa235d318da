//! Sites' settings and keys.

mod keys;

use domain::{
    id::SiteId,
    image::ImageRetentionDays,
    media::{
        CompatUnchecked, ContentRetentionDays, ItemRetentionDays, OnFailure, StatusVocabulary,
    },
    plan::PerMinute,
    policy::AnswerCacheSeconds,
    reach::Reach,
    webhook::WebhookRetentionDays,
};
use sqlx::PgPool;
use store::{
    Error,
    page::Page,
    site::{self, settings::Settings},
};

use crate::tenant::Tenant;

const ALL: Page = Page {
    after: None,
    limit: 100,
};

impl Tenant {
    async fn settings(&self) -> Settings {
        let mut conn = self.pool.acquire().await.unwrap();
        site::settings::find(&mut conn, Reach::Team(self.team), self.site)
            .await
            .unwrap()
            .unwrap()
            .settings
    }

    async fn change(&self, settings: &Settings) -> Result<(), Error> {
        let mut tx = self.pool.begin().await.unwrap();
        site::settings::change(&mut tx, self.site, settings).await?;
        tx.commit().await.unwrap();
        Ok(())
    }

    async fn revision(&self) -> i64 {
        sqlx::query_scalar("select revision from sites where id = $1")
            .bind(self.site.as_uuid())
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }
}

#[sqlx::test(migrations = false)]
async fn settings_are_kept_as_they_were_given(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let before = fixture.settings().await;
    assert_eq!(before.submissions_per_minute, None);
    let (first, second) = (
        fixture.create_group("first").await,
        fixture.create_group("second").await,
    );
    let wanted = Settings {
        name: "renamed".into(),
        on_failure: OnFailure::Reject,
        status_vocabulary: StatusVocabulary::Completed,
        providers: Some(vec!["openai".into(), "builtin".into()]),
        policy: Some("No spoilers.".to_owned().try_into().unwrap()),
        answer_cache_seconds: Some(AnswerCacheSeconds::of::<60>()),
        author_pointer: Some("/user/~0\"id".to_owned().try_into().unwrap()),
        compat_store: false,
        compat_unchecked: CompatUnchecked::Error,
        submissions_per_minute: Some(PerMinute::try_from(10).unwrap()),
        status_queries_per_minute: Some(PerMinute::try_from(20).unwrap()),
        content_retention_days: Some(ContentRetentionDays::of::<30>()),
        item_retention_days: Some(ItemRetentionDays::of::<90>()),
        image_retention_days: ImageRetentionDays::of::<7>(),
        webhook_retention_days: WebhookRetentionDays::of::<9>(),
        default_rule_group: second,
        rule_groups: vec![first, second],
    };
    fixture.change(&wanted).await.unwrap();
    assert_eq!(fixture.settings().await, wanted);
    fixture.change(&before).await.unwrap();
    assert_eq!(fixture.settings().await, before);

    fixture.create_site("taken").await;
    let taken = Settings {
        name: "taken".into(),
        ..before
    };
    let refused = fixture.change(&taken).await;
    assert!(matches!(refused, Err(Error::NameTaken)), "{refused:?}");
}

/// What is changed, and whether the revision rises.
type Change = (&'static str, bool, Box<dyn Fn(&mut Settings)>);

#[sqlx::test(migrations = false)]
async fn the_revision_rises_with_what_submissions_depend_on_and_with_nothing_else(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let mut settings = fixture.settings().await;
    let mut revision = fixture.revision().await;
    let group = fixture.create_group("other").await;
    let changes: [Change; 10] = [
        ("nothing", false, Box::new(|_| {})),
        ("name", false, Box::new(|s| s.name = "renamed".into())),
        (
            "on_failure",
            false,
            Box::new(|s| s.on_failure = OnFailure::Approve),
        ),
        (
            "status_vocabulary",
            true,
            Box::new(|s| s.status_vocabulary = StatusVocabulary::Completed),
        ),
        (
            "submissions",
            false,
            Box::new(|s| s.submissions_per_minute = PerMinute::try_from(10).ok()),
        ),
        (
            "status queries",
            false,
            Box::new(|s| s.status_queries_per_minute = PerMinute::try_from(10).ok()),
        ),
        ("compat_store", true, Box::new(|s| s.compat_store = false)),
        (
            "compat_unchecked",
            true,
            Box::new(|s| s.compat_unchecked = CompatUnchecked::Error),
        ),
        (
            "default group",
            true,
            Box::new(move |s| s.default_rule_group = group),
        ),
        (
            "groups",
            true,
            Box::new(move |s| s.rule_groups = vec![group]),
        ),
    ];
    for (what, raises, change) in changes {
        change(&mut settings);
        fixture.change(&settings).await.unwrap();
        let now = fixture.revision().await;
        assert_eq!(now > revision, raises, "{what}");
        revision = now;
    }
    settings.rule_groups.clear();
    fixture.change(&settings).await.unwrap();
    assert!(fixture.revision().await > revision, "detached");
}

#[sqlx::test(migrations = false)]
async fn only_a_teams_own_groups_are_its_own(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let other = Tenant::another(&fixture.pool, "other").await;
    let mut conn = fixture.pool.acquire().await.unwrap();
    let own = site::settings::own_groups(&mut conn, fixture.team, &[fixture.group, other.group])
        .await
        .unwrap();
    assert_eq!(own, [fixture.group]);
}

#[sqlx::test(migrations = false)]
async fn another_teams_site_is_neither_found_nor_listed(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let other = Tenant::another(&fixture.pool, "other").await;
    let second = fixture.create_site("second").await;
    let mut conn = fixture.pool.acquire().await.unwrap();
    let team = Reach::Team(fixture.team);
    let found = site::settings::find(&mut conn, team, other.site).await;
    assert!(found.unwrap().is_none());
    let locked = site::settings::lock(&mut conn, team, other.site).await;
    assert!(locked.unwrap().is_none());

    let ids = |sites: Vec<site::settings::ManagedSite>| -> Vec<SiteId> {
        sites.into_iter().map(|site| site.id).collect()
    };
    let own = site::settings::list(&mut conn, team, ALL).await.unwrap();
    assert_eq!(ids(own), [fixture.site, second]);
    let all = site::settings::list(&mut conn, Reach::Everything, ALL)
        .await
        .unwrap();
    assert_eq!(ids(all), [fixture.site, other.site, second]);
    let page = Page {
        after: Some(fixture.site.as_uuid()),
        limit: 1,
    };
    let rest = site::settings::list(&mut conn, team, page).await.unwrap();
    assert_eq!(ids(rest), [second]);
}
