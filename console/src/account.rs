//! The own account: the password, the sessions, the provider of single sign-on, and the teams.

pub(crate) mod second_factor;

use askama::Template;
use chrono::{DateTime, Utc};
use domain::id::{IdentityId, SessionId};
use management::{
    Management, Refused,
    account::{
        self,
        identities::{self, Connected},
        sessions::{self, Listed},
        sign_on::{self, Purpose},
    },
};

use crate::{
    cookie,
    page::{self, Answer, Area, Frame, PageError, PageRequest, Problems},
    sign_in,
};

#[derive(Template)]
#[template(path = "account.html")]
struct Account {
    frame: Frame,
    sessions: Vec<Listed>,
    /// The session of this browser.
    this: SessionId,
    has_password: bool,
    /// What people call the provider of single sign-on, and whether the account is connected with it.
    provider: Option<(String, bool)>,
    identities: Vec<Identity>,
    recovery_codes: i64,
    /// What is wrong with the form of the password.
    problems: Problems,
}

/// The start: leads to the person's first team, or to the instance.
pub(crate) async fn start(request: PageRequest) -> Answer {
    let mine = request.mine().await?;
    let mut entrances = mine.entrances.iter();
    let there = match entrances.find_map(|entrance| entrance.team.as_ref()) {
        Some((team, _)) => Area::Team(*team),
        None if mine.entrances.is_empty() => Area::Own,
        None => Area::Instance,
    };
    Ok(page::see_other(there.home()))
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, Problems::default()).await
}

async fn page(request: &PageRequest, problems: Problems) -> Answer {
    let (this, sessions) = sessions::list(&request.management, request.session()?).await?;
    let owner = request.mine().await?;
    let provider = request.provider();
    let connected = identities::list(&request.management, request.session()?).await?;
    let page = Account {
        has_password: owner.has_password,
        provider: provider.map(|name| (name.to_owned(), owner.is_connected)),
        identities: Identity::of(&request.management, provider, connected),
        recovery_codes: owner.recovery_codes,
        frame: Frame::of(request, "account").await?,
        sessions,
        this,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

pub(crate) async fn change_password(request: PageRequest) -> Answer {
    let session = request.session()?;
    let (current, new) = (request.form.get("current"), request.form.get("new"));
    let (management, visitor) = (&request.management, &request.visitor);
    let changed =
        account::sign_in::change_password(management, visitor, session, current, new).await;
    let mut problems = Problems::default();
    match changed {
        Ok(()) => return Ok(page::see_other("/account?done=password-changed")),
        Err(Refused::SignInFailed) => problems.add("current", "This is not your password."),
        Err(refused @ Refused::TooManyTries { .. }) => {
            problems.add("current", refused.to_string());
        }
        Err(Refused::Fields(fields)) => {
            for problem in fields.problems {
                problems.add("new", problem.message);
            }
        }
        Err(other) => return Err(other.into()),
    }
    page(&request, problems).await
}

pub(crate) async fn end_session(request: PageRequest) -> Answer {
    let (session, ended) = (request.session()?, request.id("session")?);
    sessions::end(&request.management, &request.visitor, session, ended).await?;
    Ok(page::see_other("/account?done=session-ended"))
}

pub(crate) async fn end_other_sessions(request: PageRequest) -> Answer {
    sessions::end_others(&request.management, &request.visitor, request.session()?).await?;
    Ok(page::see_other("/account?done=sessions-ended"))
}

/// An identity as the page shows it.
struct Identity {
    id: IdentityId,
    /// What people call the provider, or its address if it is not configured now.
    provider: String,
    is_in_use: bool,
    address: Option<String>,
    since: DateTime<Utc>,
    used: Option<DateTime<Utc>>,
}

impl Identity {
    fn of(management: &Management, provider: Option<&str>, listed: Vec<Connected>) -> Vec<Self> {
        let rows = listed.into_iter().map(|one| {
            let is_in_use = identities::is_in_use(management, &one);
            let name = provider.filter(|_| is_in_use);
            Self {
                id: one.id,
                provider: name.map_or(one.issuer, str::to_owned),
                is_in_use,
                address: one.email,
                since: one.created_at,
                used: one.last_used_at,
            }
        });
        rows.collect()
    }
}

/// Leads to the provider. It is a page with a link, because the policy for content lets no form leave the console, not even
/// by a redirect.
#[derive(Template)]
#[template(path = "account/connect.html")]
struct Connect<'a> {
    provider: &'a str,
    address: &'a str,
}

pub(crate) async fn connect(request: PageRequest) -> Answer {
    let provider = request.provider().ok_or(PageError::NoSuchPage)?;
    let purpose = Purpose::Connect(request.session()?);
    let begun = match sign_on::begin(&request.management, &request.visitor, purpose).await {
        Ok(begun) => begun,
        Err(not) => return sign_in::single_sign_on::refused(&request, not),
    };
    let page = page::shown(&Connect {
        provider,
        address: begun.address.as_str(),
    });
    Ok(cookie::set(page, cookie::hold_attempt(&begun.kept)))
}

pub(crate) async fn disconnect(request: PageRequest) -> Answer {
    let (session, identity) = (request.session()?, request.id("identity")?);
    identities::disconnect(&request.management, &request.visitor, session, identity).await?;
    Ok(page::see_other("/account?done=disconnected"))
}
