//! What pages have in common: their frame with the navigation, and how they are answered.

use askama::Template;
use domain::{id::TeamId, role::Role, scope::Scope};
use management::account::mine;
use poem::{
    Response,
    http::{StatusCode, header},
};

use crate::{trouble::Trouble, visit::Visit};

/// A page.
pub(crate) fn html(status: StatusCode, page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => Response::builder()
            .status(status)
            .content_type("text/html; charset=utf-8")
            .body(html),
        Err(error) => {
            tracing::error!(%error, "a template failed");
            StatusCode::INTERNAL_SERVER_ERROR.into()
        }
    }
}

/// A page that shows what was asked for.
pub(crate) fn shown(page: &impl Template) -> Response {
    html(StatusCode::OK, page)
}

/// Leads on after a change, so that loading the page again does not make it twice.
pub(crate) fn see_other(path: impl AsRef<str>) -> Response {
    Response::builder()
        .status(StatusCode::SEE_OTHER)
        .header(header::LOCATION, path.as_ref())
        .finish()
}

/// The part of the page that is the same everywhere: who is signed in, in which team, and where one can go.
pub(crate) struct Frame {
    /// What the person is called.
    pub(crate) name: String,
    /// The address with which the person signs in.
    pub(crate) email: String,
    /// Whether the person has a second factor.
    pub(crate) has_factor: bool,
    /// The first letters of the person's name.
    pub(crate) initials: String,
    /// The team that is open, or the instance.
    pub(crate) open: Option<Entrance>,
    /// The teams of the person.
    pub(crate) entrances: Vec<Entrance>,
    /// Where one can go there.
    pub(crate) links: Vec<Link>,
    /// What was just done.
    pub(crate) done: Option<&'static str>,
}

/// A team that the person can enter, or the instance.
#[derive(Clone)]
pub(crate) struct Entrance {
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) is_open: bool,
}

impl Entrance {
    /// The first letter of the name.
    pub(crate) fn initial(&self) -> String {
        initials(&self.name).chars().take(1).collect()
    }
}

/// An entry of the navigation.
pub(crate) struct Link {
    pub(crate) path: String,
    pub(crate) name: &'static str,
    pub(crate) icon: &'static str,
    pub(crate) is_open: bool,
}

/// The places of a team: the name, the last part of the path, and the scope without which it is not offered.
const PLACES: &[(&str, &str, Scope)] = &[("Sites", "sites", Scope::SitesRead)];

impl Frame {
    /// The frame of a page of this team, or of the person's own pages.
    ///
    /// # Errors
    /// Nobody is signed in, or the person is not in this team.
    pub(crate) async fn of(
        visit: &Visit,
        team: Option<TeamId>,
        place: &str,
    ) -> Result<Self, Trouble> {
        let (mine, has_factor) = mine::get(&visit.management, visit.session()?).await?;
        let entrances: Vec<Entrance> = mine
            .entrances
            .into_iter()
            .map(|one| {
                let (id, name) = one.team.unzip();
                Entrance {
                    path: home(id),
                    name: name.unwrap_or_else(|| INSTANCE.to_owned()),
                    role: one.role,
                    is_open: id.is_some() && id == team,
                }
            })
            .collect();
        let open = entrances.iter().find(|entrance| entrance.is_open).cloned();
        if team.is_some() && open.is_none() {
            return Err(Trouble::NoSuchPage);
        }
        let scopes = open.as_ref().map_or(&[][..], |open| open.role.scopes());
        let links = PLACES.iter().filter(|(.., scope)| scopes.contains(scope));
        let links = team.map_or_else(Vec::new, |team| {
            links
                .map(|(name, last, _)| Link {
                    path: format!("/t/{team}/{last}"),
                    name,
                    icon: last,
                    is_open: *last == place,
                })
                .collect()
        });
        Ok(Self {
            initials: initials(&mine.name),
            name: mine.name,
            email: mine.email,
            has_factor,
            open,
            entrances,
            links,
            done: done(visit.query.get("done")),
        })
    }
}

/// What operators see in place of a team's name.
const INSTANCE: &str = "This instance";

/// The first page of a team; without, that of an operator.
pub(crate) fn home(team: Option<TeamId>) -> String {
    match team {
        Some(team) => format!("/t/{team}/sites"),
        None => "/account".to_owned(),
    }
}

fn initials(name: &str) -> String {
    let words = name.split_whitespace();
    words
        .filter_map(|word| word.chars().next())
        .flat_map(char::to_uppercase)
        .take(2)
        .collect()
}

/// What a page says that was just done. The address has only its short name, so nobody can make a page say something else.
fn done(name: &str) -> Option<&'static str> {
    Some(match name {
        "password-changed" => "Your password was changed. Your other sessions were ended.",
        "factor-removed" => "The second factor was removed.",
        "session-ended" => "The session was ended.",
        "sessions-ended" => "All your other sessions were ended.",
        _ => return None,
    })
}
