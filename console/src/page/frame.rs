//! The part of a page that is the same everywhere: the navigation, the person, and what was just done.

use std::sync::Arc;

use askama::Template;
use domain::{role::Role, scope::Scope};

use super::{PageRequest, error::PageError, flash::done, navigation::Area};

/// The part of the page that is the same everywhere: who is signed in, in which team, and where one can go. It is a template of
/// its own, so that each page has it without compiling it again.
#[derive(Template)]
#[template(path = "frame.html")]
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
    /// Where the page is.
    pub(crate) at: Area,
    /// What the person may do there.
    scopes: &'static [Scope],
    /// What was just done.
    pub(crate) done: Option<&'static str>,
    request: PageRequest,
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
    pub(crate) heading: Option<&'static str>,
    pub(crate) is_open: bool,
}

/// What operators see in place of a team's name.
const INSTANCE: &str = "This instance";

impl Frame {
    /// The frame of a page. `place` is the path of an entry of the navigation.
    /// `Err`: nobody is signed in, or the person may not go there.
    pub(crate) async fn of(request: &PageRequest, place: &str) -> Result<Self, PageError> {
        let at = request.at()?;
        let mine = request.mine().await?;
        let entrances: Vec<Entrance> = mine
            .entrances
            .iter()
            .map(|entrance| {
                let (id, name) = entrance.team.clone().unzip();
                let there = id.map_or(Area::Instance, Area::Team);
                Entrance {
                    path: there.home(),
                    name: name.unwrap_or_else(|| INSTANCE.to_owned()),
                    role: entrance.role,
                    is_open: there == at,
                }
            })
            .collect();
        let open = entrances.iter().find(|entrance| entrance.is_open).cloned();
        if at != Area::Own && open.is_none() {
            return Err(PageError::NoSuchPage);
        }
        let scopes = open.as_ref().map_or(&[][..], |open| open.role.scopes());
        let places = at.places().iter();
        let links = places.filter(|there| scopes.contains(&there.scope));
        Ok(Self {
            initials: initials(&mine.name),
            name: mine.name.clone(),
            email: mine.email.clone(),
            has_factor: mine.factor.exists(),
            open,
            entrances,
            links: links
                .map(|there| Link {
                    path: at.path(there.path),
                    name: there.name,
                    icon: there.icon,
                    heading: there.heading,
                    is_open: there.path == place,
                })
                .collect(),
            at,
            scopes,
            done: done(request.query.get("done")),
            request: Arc::clone(request),
        })
    }

    /// What was typed into a field of the form, so that it stays.
    pub(crate) fn typed(&self, field: &str) -> &str {
        self.request.form.get(field)
    }

    /// What the address asks for.
    pub(crate) fn asked(&self, field: &str) -> &str {
        self.request.query.get(field)
    }

    pub(crate) fn path(&self, place: &str) -> String {
        self.at.path(place)
    }

    /// Where the person gets in there, and as what; none for a team of others.
    pub(crate) fn role_in(&self, there: Area) -> Option<(String, Role)> {
        let path = there.home();
        let mut entrances = self.entrances.iter();
        let found = entrances.find(|entrance| entrance.path == path);
        found.map(|entrance| (path, entrance.role))
    }

    /// Whether the page is about the whole instance.
    pub(crate) fn is_instance(&self) -> bool {
        self.at == Area::Instance
    }

    /// Whether the person may give this role to others, and take it from them: nobody gives more than they have.
    pub(crate) fn may_give(&self, role: Role) -> bool {
        role.beyond(self.scopes).is_none()
    }

    /// What the person may do here.
    pub(crate) fn scopes(&self) -> &'static [Scope] {
        self.scopes
    }

    /// Whether the person may do this here. Nobody sees a button that would be refused.
    pub(crate) fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
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
