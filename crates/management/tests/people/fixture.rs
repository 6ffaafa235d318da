//! A team with people in it, and what they do.

use std::{net::IpAddr, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    id::{MemberId, SiteId, TeamId},
    key::{SecretHash, SessionSecret},
    role::Role,
    rules::Limits,
    totp::TotpSecret,
};
use management::{
    AnonymousCaller, Caller, EndpointChecks, Forbidden, Management, Passwords, PreviewPool,
    RateLimit, RateLimitSettings, Refused, TrialPool,
    account::{
        SignedIn,
        one_time_links::{self, Accepted},
        second_factor,
        sign_in::{give_code, sign_in},
    },
    exports::ConcurrentReads,
    people::{Standing, invitations},
};
use queue::Queue;
use sqlx::PgPool;
use store::{
    encryption::MasterKey,
    page::Page,
    person::Person,
    plan,
    rule_group::{self, NewVersion},
    schema, site, team,
};

pub(crate) const PASSWORD: &str = "kelp otter violin";
pub(crate) const HERE: [u8; 4] = [192, 0, 2, 1];
pub(crate) const ELSEWHERE: [u8; 4] = [198, 51, 100, 7];
/// As if there had been so many tries that the wait is the longest one, which no machine is too
/// slow for.
pub(crate) const MANY_FAILURES: &str = "update sign_in_failures set failures = 14, last_at = now()";
pub(crate) const ALL: Page = Page {
    after: None,
    limit: 1_000,
};

pub(crate) struct Fixture {
    pub(crate) management: Arc<Management>,
    pub(crate) pool: PgPool,
    pub(crate) team: TeamId,
}

/// Somebody who has signed in.
#[derive(Clone)]
pub(crate) struct Somebody {
    pub(crate) management: Arc<Management>,
    pub(crate) id: MemberId,
    pub(crate) team: Option<TeamId>,
    pub(crate) session: SecretHash,
    pub(crate) factor: Option<TotpSecret>,
}

pub(crate) fn anonymous_caller(address: [u8; 4]) -> AnonymousCaller {
    AnonymousCaller::new(IpAddr::from(address), "Firefox", "req_1".to_owned())
}

impl Somebody {
    pub(crate) fn caller(&self) -> Caller {
        Caller::session(
            &self.management,
            self.session,
            self.team,
            "req_2".to_owned(),
        )
    }

    /// A code of the second factor at a time that is this far away.
    pub(crate) fn code(&self, seconds: i64) -> String {
        let at: DateTime<Utc> = Utc::now() + TimeDelta::seconds(seconds);
        self.factor.as_ref().unwrap().code_at(at).to_string()
    }
}

impl Fixture {
    pub(crate) async fn new(pool: PgPool) -> Self {
        schema::migrate(&pool).await.unwrap();
        let queue = Queue::open(pool.clone(), queue::Config::default()).unwrap();
        let management = Management {
            pool: pool.clone(),
            queue,
            master_key: Some(MasterKey::new([7; 32])),
            trial_pool: TrialPool::new(Limits::default(), None),
            endpoint_checks: EndpointChecks::new(
                Arc::new(|_, _| Err("nothing is sent from here".to_owned())),
                Arc::new(|_| Box::pin(async { None })),
            ),
            preview_pool: PreviewPool::new(None),
            rules_per_day: 1 << 20,
            exports: ConcurrentReads::default(),
            rate_limit: RateLimit::new(RateLimitSettings::default()),
            passwords: Passwords::default(),
            sign_on: None,
        };
        let team = create_team(&pool, "team").await;
        Self {
            management: Arc::new(management),
            pool,
            team,
        }
    }

    pub(crate) async fn another_team(&self) -> TeamId {
        create_team(&self.pool, "another").await
    }

    pub(crate) async fn create_site(&self, team: TeamId, name: &str) -> SiteId {
        let mut tx = self.pool.begin().await.unwrap();
        let version = NewVersion {
            rules: &[],
            categories: &[],
        };
        let group = rule_group::create(&mut tx, team, name, version)
            .await
            .unwrap();
        let key = MasterKey::new([7; 32]);
        let (site, _) = site::create(&mut tx, &key, team, name, group)
            .await
            .unwrap();
        tx.commit().await.unwrap();
        site
    }

    pub(crate) async fn invite(
        &self,
        by: &Caller,
        team: Option<TeamId>,
        email: &str,
        role: Role,
    ) -> Result<SecretHash, Refused> {
        let wanted = invitations::Wanted {
            team,
            email: email.parse().unwrap(),
            standing: Standing { role, sites: None },
        };
        let issued = invitations::create(by, &wanted).await?;
        Ok(issued.secret.hash())
    }

    pub(crate) async fn accept(&self, link: SecretHash) -> Result<SignedIn, Refused> {
        let (name, here) = ("Ada".parse().unwrap(), anonymous_caller(HERE));
        let accepted = one_time_links::accept(&self.management, &here, link, Some(&name), PASSWORD);
        match accepted.await? {
            Accepted::Joined(signed_in) => Ok(signed_in),
            // Something else can sign in, and ends now.
            Accepted::SignedIn(signed_in) => {
                let session = signed_in.secret.hash();
                one_time_links::accept_signed_in(&self.management, &here, link, session).await?;
                Ok(signed_in)
            }
        }
    }

    /// A person of the team, who has set up a second factor if one is needed.
    pub(crate) async fn person(&self, email: &str, role: Role) -> Somebody {
        let team = (role != Role::Operator).then_some(self.team);
        self.person_in(team, email, role).await
    }

    pub(crate) async fn person_in(
        &self,
        team: Option<TeamId>,
        email: &str,
        role: Role,
    ) -> Somebody {
        let link = self
            .invite(&Caller::command_line(&self.management), team, email, role)
            .await;
        let signed_in = self.accept(link.unwrap()).await.unwrap();
        let mut somebody = Somebody {
            management: Arc::clone(&self.management),
            id: self.member(team, email).await,
            team,
            session: signed_in.secret.hash(),
            factor: None,
        };
        if role.requires_factor() {
            self.set_up_factor(&mut somebody).await;
        }
        somebody
    }

    pub(crate) async fn set_up_factor(&self, somebody: &mut Somebody) {
        let begun = second_factor::set_up(&self.management, somebody.session)
            .await
            .unwrap();
        somebody.factor = Some(begun.secret);
        let confirm = async |somebody: &Somebody| {
            let code = somebody.code(-30);
            second_factor::confirm(
                &self.management,
                &anonymous_caller(HERE),
                somebody.session,
                &code,
            )
            .await
        };
        let confirmed = match confirm(somebody).await {
            // The period of the code ended while it was on its way.
            Err(Refused::WrongCode) => confirm(somebody).await,
            other => other,
        };
        somebody.session = confirmed.unwrap().secret.hash();
    }

    pub(crate) async fn sign_in(
        &self,
        address: [u8; 4],
        email: &str,
        password: &str,
    ) -> Result<SignedIn, Refused> {
        sign_in(
            &self.management,
            &anonymous_caller(address),
            email,
            password,
        )
        .await
    }

    pub(crate) async fn give_code(
        &self,
        session: SecretHash,
        code: &str,
    ) -> Result<SessionSecret, Refused> {
        give_code(&self.management, &anonymous_caller(HERE), session, code).await
    }

    pub(crate) async fn people(&self, by: &Somebody) -> Result<Vec<Person>, Refused> {
        management::people::list(&by.caller(), ALL).await
    }

    async fn member(&self, team: Option<TeamId>, email: &str) -> MemberId {
        let id: uuid::Uuid = sqlx::query_scalar(
            "select m.id from memberships m join users u on u.id = m.user_id
             where u.email = $1 and m.team_id is not distinct from $2",
        )
        .bind(email)
        .bind(team.map(TeamId::as_uuid))
        .fetch_one(&self.pool)
        .await
        .unwrap();
        id.into()
    }

    /// What the audit log has, as `actor action`, in its order.
    pub(crate) async fn audited(&self) -> Vec<String> {
        sqlx::query_scalar("select actor || ' ' || action from audit_log order by id")
            .fetch_all(&self.pool)
            .await
            .unwrap()
    }

    pub(crate) async fn count(&self, statement: &'static str) -> i64 {
        sqlx::query_scalar(statement)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }

    pub(crate) async fn run(&self, statement: &'static str) {
        sqlx::query(statement).execute(&self.pool).await.unwrap();
    }
}

async fn create_team(pool: &PgPool, name: &str) -> TeamId {
    let mut tx = pool.begin().await.unwrap();
    let name = name.parse().unwrap();
    let team = team::create(&mut tx, &name, plan::UNLIMITED)
        .await
        .unwrap()
        .id;
    tx.commit().await.unwrap();
    team
}

/// Why something was forbidden.
pub(crate) fn forbidden<T: std::fmt::Debug>(result: Result<T, Refused>) -> Forbidden {
    match result {
        Err(Refused::Forbidden(why, _)) => why,
        other => panic!("{other:?}"),
    }
}
