//! A browser that keeps the console's cookie.

use std::sync::Arc;

use console::{Console, console};
use domain::{id::TeamId, role::Role, totp::TotpSecret};
use fair_share::Proxies;
use http_server::{BodySettings, DEADLINE, RefusalSettings};
use management::{
    Caller, MakePreview, Management, Passwords, PreviewPool, RateLimit, RateLimitSettings, SignOn,
    TrialPool,
    exports::ConcurrentReads,
    people::{Standing, invitations},
};
use poem::{
    Endpoint, Request, Response,
    endpoint::{BoxEndpoint, EndpointExt as _},
    http::{Method, StatusCode, header},
};
use queue::Queue;
use sqlx::PgPool;
use store::{encryption::MasterKey, schema};

use crate::audited_changes;

pub(crate) const PASSWORD: &str = "kelp otter violin";

/// Limits that no test reaches: it opens all pages within a minute.
pub(crate) fn pace() -> RateLimitSettings {
    RateLimitSettings {
        per_token: 1_000_000,
        per_team: 1_000_000,
        per_address: 1_000_000,
        // A request that needs two connections at once waits for itself, and fails.
        at_once: 1,
        ..RateLimitSettings::default()
    }
}

/// What browsers send with forms of the console's own pages.
const OWN: [(&str, &str); 1] = [("sec-fetch-site", "same-origin")];

/// The console, and what it works with.
pub(crate) struct Stage {
    pub(crate) management: Arc<Management>,
    pub(crate) team: TeamId,
    endpoint: Arc<BoxEndpoint<'static, Response>>,
}

impl Stage {
    pub(crate) async fn new(pool: PgPool) -> Self {
        Self::with(pool, pace(), None, None).await
    }

    /// With limits of their own.
    pub(crate) async fn paced(pool: PgPool, pace: RateLimitSettings) -> Self {
        Self::with(pool, pace, None, None).await
    }

    /// With a darkroom that makes previews like this.
    pub(crate) async fn developing(pool: PgPool, develop: Option<MakePreview>) -> Self {
        Self::with(pool, pace(), develop, None).await
    }

    /// With a provider of single sign-on.
    pub(crate) async fn signing_on(pool: PgPool, sign_on: Option<SignOn>) -> Self {
        Self::with(pool, pace(), None, sign_on).await
    }

    async fn with(
        pool: PgPool,
        settings: RateLimitSettings,
        develop: Option<MakePreview>,
        sign_on: Option<SignOn>,
    ) -> Self {
        schema::migrate(&pool).await.unwrap();
        let queue = Queue::open(pool.clone(), queue::Config::default()).unwrap();
        let management = Arc::new(Management {
            pool: pool.clone(),
            queue,
            master_key: Some(MasterKey::new([7; 32])),
            trial_pool: TrialPool::new(domain::rules::Limits::default(), None),
            endpoint_checks: crate::webhooks::endpoint_checks(),
            preview_pool: PreviewPool::new(develop),
            rules_per_day: 1 << 20,
            exports: ConcurrentReads::default(),
            rate_limit: RateLimit::new(settings),
            passwords: Passwords::default(),
            sign_on,
        });
        let name = "Marktplatz".parse().unwrap();
        let caller = Caller::command_line(&management);
        let team = management::teams::create(&caller, &name, None);
        let team = team.await.unwrap().id;
        let endpoint = console(Console {
            management: Arc::clone(&management),
            proxies: Proxies::default(),
            body: BodySettings {
                max_bytes: 1 << 20,
                ..BodySettings::default()
            },
            // Tests are refused more often than people.
            refusals: RefusalSettings {
                per_second: 1_000_000,
                ..RefusalSettings::default()
            },
            deadline: DEADLINE,
            public_url: None,
        });
        Self {
            management,
            team,
            endpoint: Arc::new(endpoint.boxed()),
        }
    }

    pub(crate) fn browser(&self) -> Browser {
        Browser {
            endpoint: Arc::clone(&self.endpoint),
            pool: self.management.pool.clone(),
            cookie: None,
            attempt: None,
        }
    }

    /// The path of the page that an invitation opens.
    pub(crate) async fn invitation(&self, email: &str, role: Role) -> String {
        let wanted = invitations::Wanted {
            team: (role != Role::Operator).then_some(self.team),
            email: email.parse().unwrap(),
            standing: Standing { role, sites: None },
        };
        let issued = invitations::create(&Caller::command_line(&self.management), &wanted).await;
        format!("/links/{}", issued.unwrap().secret.expose())
    }
}

impl Stage {
    /// A browser in which somebody with this role is signed in, with the second factor if the role needs one.
    pub(crate) async fn person(&self, email: &str, role: Role) -> Browser {
        let link = self.invitation(email, role).await;
        self.join(&link).await
    }

    /// A browser in which somebody has followed an invitation, with the second factor if the role needs one.
    pub(crate) async fn join(&self, link: &str) -> Browser {
        let mut browser = self.browser();
        let form = format!("name=Ada&password={}", PASSWORD.replace(' ', "+"));
        if browser.post(link, &form).await.leads_to() == "/account/factor" {
            browser.set_up_factor().await;
        }
        browser
    }
}

impl Stage {
    /// The same console, and another team.
    pub(crate) async fn with_another_team(&self) -> Self {
        let name = "Other".parse().unwrap();
        let caller = Caller::command_line(&self.management);
        let team = management::teams::create(&caller, &name, None);
        Self {
            management: Arc::clone(&self.management),
            team: team.await.unwrap().id,
            endpoint: Arc::clone(&self.endpoint),
        }
    }

    /// Who did this last, and in which request, as the audit log has it.
    pub(crate) async fn last(&self, action: &str) -> (String, Option<String>) {
        let row = sqlx::query_as(
            "
            select coalesce(u.email, a.actor), a.request_id
            from audit_log a
            left join memberships m on m.id = a.actor_id
            left join users u on u.id = m.user_id
            where a.action = $1
            order by a.id desc
            limit 1
            ",
        );
        row.bind(action)
            .fetch_one(&self.management.pool)
            .await
            .unwrap()
    }

    /// How many changes are recorded.
    pub(crate) async fn changes(&self) -> i64 {
        let count = sqlx::query_scalar("select count(*) from audit_log");
        count.fetch_one(&self.management.pool).await.unwrap()
    }
}

/// What a page answered.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: poem::http::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    /// Where a redirect leads.
    pub(crate) fn leads_to(&self) -> &str {
        assert_eq!(self.status, StatusCode::SEE_OTHER, "{}", self.text);
        self.headers[header::LOCATION].to_str().unwrap()
    }
}

/// A browser.
#[derive(Clone)]
pub(crate) struct Browser {
    endpoint: Arc<BoxEndpoint<'static, Response>>,
    pool: PgPool,
    pub(crate) cookie: Option<String>,
    /// What it keeps while it is at the provider of single sign-on.
    pub(crate) attempt: Option<String>,
}

impl Browser {
    pub(crate) async fn set_up_factor(&mut self) -> TotpSecret {
        let page = self.post("/account/factor", "").await.text;
        let secret = base32(between(&page, "name=\"secret\" value=\"", "\""));
        let secret = TotpSecret::from_bytes(secret);
        let code = secret.code_at(chrono::Utc::now());
        let page = self
            .post("/account/factor/confirm", &format!("code={code}"))
            .await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.text);
        secret
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.send(Method::GET, path, "", &[]).await
    }

    /// Asks for a picture as one of the console's own pages does.
    pub(crate) async fn picture(&mut self, path: &str) -> Answer {
        let own = [
            ("sec-fetch-site", "same-origin"),
            ("sec-fetch-dest", "image"),
        ];
        self.send(Method::GET, path, "", &own).await
    }

    /// Sends a form as one of the console's own pages does.
    pub(crate) async fn post(&mut self, path: &str, form: &str) -> Answer {
        self.send(Method::POST, path, form, &OWN).await
    }

    /// Sends an empty form to see who may do it. It may find nothing to change.
    pub(crate) async fn attempt(&mut self, path: &str) -> Answer {
        self.request(Method::POST, path, "", &OWN).await
    }

    /// Sends any request. What it changes must be in the audit log.
    pub(crate) async fn send(
        &mut self,
        method: Method,
        path: &str,
        form: &str,
        headers: &[(&str, &str)],
    ) -> Answer {
        let is_form = method == Method::POST;
        let answer = self.request(method, path, form, headers).await;
        if is_form {
            audited_changes::check(&self.pool, path, &answer).await;
        }
        answer
    }

    async fn request(
        &mut self,
        method: Method,
        path: &str,
        form: &str,
        headers: &[(&str, &str)],
    ) -> Answer {
        let mut request = Request::builder()
            .method(method)
            .uri_str(path)
            .content_type("application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        for cookie in self.cookie.iter().chain(&self.attempt) {
            request = request.header(header::COOKIE, cookie);
        }
        let request = request.body(form.to_owned());
        let mut response = self.endpoint.call(request).await.unwrap();
        for set in response.headers().get_all(header::SET_COOKIE) {
            let cookie = set.to_str().unwrap().split(';').next().unwrap().to_owned();
            if cookie.starts_with("__Host-gatehouse-sign-on=") {
                self.attempt = Some(cookie);
            } else {
                self.cookie = Some(cookie);
            }
        }
        let body = response.take_body().into_vec().await.unwrap();
        let text = String::from_utf8_lossy(&body).into_owned();
        Answer {
            status: response.status(),
            headers: response.headers().clone(),
            text,
        }
    }
}

/// Reads what an app is given to type.
pub(crate) fn base32(text: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let bits = text
        .bytes()
        .filter_map(|letter| digits.iter().position(|digit| *digit == letter))
        .flat_map(|value| (0..5).rev().map(move |bit| u8::from(value >> bit & 1 == 1)));
    let bits: Vec<u8> = bits.collect();
    bits.chunks_exact(8)
        .map(|byte| byte.iter().fold(0, |value, bit| value << 1 | bit))
        .collect()
}

/// What is between two texts.
pub(crate) fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap();
    rest.split_once(after).unwrap().0
}
