//! A browser that keeps the console's cookie.

use std::sync::Arc;

use console::{Console, console};
use domain::{id::TeamId, role::Role, totp::TotpSecret};
use front::{BodySettings, DEADLINE, RefusalSettings};
use management::{
    Caller, Darkroom, Management, Pace, PaceSettings, Passwords, SignOn, Workbench,
    people::{Standing, invitations},
};
use poem::{
    Endpoint, Request, Response,
    endpoint::{BoxEndpoint, EndpointExt as _},
    http::{Method, StatusCode, header},
};
use queue::Queue;
use shares::Proxies;
use sqlx::PgPool;
use store::{schema, seal::MasterKey};

pub(crate) const PASSWORD: &str = "kelp otter violin";

/// The console, and what it works with.
pub(crate) struct Stage {
    pub(crate) management: Arc<Management>,
    pub(crate) team: TeamId,
    endpoint: Arc<BoxEndpoint<'static, Response>>,
}

impl Stage {
    pub(crate) async fn new(pool: PgPool) -> Self {
        Self::with(pool, None).await
    }

    /// The same, with a provider of single sign-on.
    pub(crate) async fn with(pool: PgPool, sign_on: Option<SignOn>) -> Self {
        schema::migrate(&pool).await.unwrap();
        let queue = Queue::open(pool.clone(), queue::Config::default()).unwrap();
        let management = Arc::new(Management {
            pool: pool.clone(),
            queue,
            master_key: Some(MasterKey::new([7; 32])),
            workbench: Workbench::new(domain::rules::Limits::default(), None),
            outlet: crate::webhooks::outlet(),
            darkroom: Darkroom::new(None),
            rules_per_day: 1 << 20,
            // A test opens all pages within a minute.
            pace: Pace::new(PaceSettings {
                per_token: 1_000_000,
                per_team: 1_000_000,
                per_address: 1_000_000,
                ..PaceSettings::default()
            }),
            passwords: Passwords::default(),
            sign_on,
        });
        let name = "Marktplatz".parse().unwrap();
        let caller = Caller::command_line();
        let team = management::teams::create(&management, &caller, &name, None);
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
        let issued = invitations::create(&self.management, &Caller::command_line(), &wanted).await;
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
        let caller = Caller::command_line();
        let team = management::teams::create(&self.management, &caller, &name, None);
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
pub(crate) struct Browser {
    endpoint: Arc<BoxEndpoint<'static, Response>>,
    pub(crate) cookie: Option<String>,
    /// What it keeps while it is at the provider of single sign-on.
    pub(crate) attempt: Option<String>,
}

impl Browser {
    pub(crate) async fn set_up_factor(&mut self) {
        let page = self.post("/account/factor", "").await.text;
        let secret = base32(between(&page, "name=\"secret\" value=\"", "\""));
        let code = TotpSecret::from_bytes(secret).code_at(chrono::Utc::now());
        let page = self
            .post("/account/factor/confirm", &format!("code={code}"))
            .await;
        assert_eq!(page.status, StatusCode::OK, "{}", page.text);
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.send(Method::GET, path, "", &[]).await
    }

    /// Sends a form as one of the console's own pages does.
    pub(crate) async fn post(&mut self, path: &str, form: &str) -> Answer {
        let own = [("sec-fetch-site", "same-origin")];
        self.send(Method::POST, path, form, &own).await
    }

    pub(crate) async fn send(
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
        let text = response.take_body().into_string().await.unwrap();
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
