//! Policies of the review desk, which say what moderators reject items for: the list, a new one, its form, and how it is deleted.

use askama::Template;
use domain::{
    id::ReviewPolicyId,
    name::Name,
    reason::Reason,
    review::{Guideline, PolicyCode, PolicyKey, Severity},
    scope::Scope,
    score::Category,
};
use management::{
    Refused,
    review_policies::{self, ReviewPolicy, Settings},
};

use crate::page::{self, Answer, Form, Frame, PageRequest, Problems, Texts, stale_form};

#[derive(Template)]
#[template(path = "policies.html")]
struct List {
    frame: Frame,
    policies: Vec<ReviewPolicy>,
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    Ok(page::shown(&List {
        policies: review_policies::of_team(&caller).await?,
        frame: Frame::of(&request, "policies").await?,
    }))
}

impl List {
    /// For what a policy is suggested, in a few words.
    fn suggested(policy: &ReviewPolicy) -> String {
        let settings = &policy.settings;
        let categories = settings.categories.iter().map(ToString::to_string);
        let rules = settings.rules.iter().map(|rule| format!("“{rule}”"));
        categories.chain(rules).collect::<Vec<_>>().join(", ")
    }
}

/// Fields of this page. What is wrong with anything else is told above the form.
const FIELDS: &[&str] = &[
    "code",
    "name",
    "guideline",
    "reason",
    "key",
    "severity",
    "categories",
    "rules",
    "typed",
];

#[derive(Template)]
#[template(path = "policies/policy.html")]
struct Shown {
    frame: Frame,
    /// The policy; none if it is a new one.
    policy: Option<ReviewPolicy>,
    values: Values,
    /// The settings that the person has seen.
    seen: String,
    problems: Problems,
}

impl Shown {
    fn deletion(&self, policy: &ReviewPolicy) -> String {
        format!("{}/{}/delete", self.frame.path("policies"), policy.id)
    }

    fn may_change(&self) -> bool {
        self.frame.may(Scope::ReviewsManage)
    }

    fn is_chosen(&self, category: Category) -> bool {
        let name = category.to_string();
        self.values.categories.contains(&name)
    }
}

pub(crate) async fn new(request: PageRequest) -> Answer {
    form(&request, None, Problems::default()).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    let team = request.team()?;
    let caller = request.caller()?;
    let values = Values::of_form(&request.form);
    let problems = match values.parsed() {
        Ok(settings) => {
            let created = review_policies::create(&caller, Some(team), &settings).await;
            match created {
                Ok(_) => return request.lead_to("policies?done=policy-created"),
                Err(refused) => Problems::of(refused)?,
            }
        }
        Err(problems) => problems,
    };
    form(&request, Some(values), problems).await
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    form(&request, None, Problems::default()).await
}

pub(crate) async fn change(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let id: ReviewPolicyId = request.id("policy")?;
    let values = Values::of_form(&request.form);
    let is_seen =
        |settings: &Settings| stale_form::is_seen(&request, &Values::of_settings(settings).seen());
    let problems = match values.parsed() {
        Ok(settings) => {
            let saved = review_policies::update_seen(&caller, id, is_seen, settings);
            match saved.await {
                Ok(Ok(_)) => return Ok(request.lead_back("saved")),
                Ok(Err(outdated)) => stale_form::problems(&outdated),
                Err(refused) => Problems::of(refused)?,
            }
        }
        Err(problems) => problems,
    };
    form(&request, Some(values), problems).await
}

pub(crate) async fn delete(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let id: ReviewPolicyId = request.id("policy")?;
    let policy = review_policies::get(&caller, id).await?;
    if request.form.get("typed") == policy.settings.code.as_str() {
        review_policies::delete(&caller, id).await?;
        return request.lead_to("policies?done=policy-deleted");
    }
    let problems = Problems::field("typed", "must be the code of the policy");
    form(&request, None, problems).await
}

/// The form of the policy in the path, or of a new one.
async fn form(request: &PageRequest, typed: Option<Values>, problems: Problems) -> Answer {
    let caller = request.caller()?;
    let policy = match request.id::<ReviewPolicyId>("policy") {
        Ok(id) => Some(review_policies::get(&caller, id).await?),
        // The path of a new policy names none; any other without an id is none.
        Err(_) if request.path().ends_with("/policies/new") => None,
        Err(_) => return Err(Refused::NotFound(management::Noun::Policy).into()),
    };
    let present = policy
        .as_ref()
        .map_or_else(Values::new, |policy| Values::of_settings(&policy.settings));
    let page = Shown {
        frame: Frame::of(request, "policies").await?,
        seen: stale_form::next(request, &problems, present.seen()),
        values: typed.unwrap_or(present),
        policy,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

/// The fields for texts.
const TEXTS: [&str; 7] = [
    "code",
    "name",
    "guideline",
    "reason",
    "key",
    "severity",
    "rules",
];

/// What is in the form. There is one name of a rule in each line.
struct Values {
    texts: Texts,
    categories: Vec<String>,
    two_people: bool,
}

impl Values {
    fn new() -> Self {
        Self {
            texts: Texts::stored([("severity", Severity::Normal.to_string())]),
            categories: Vec::new(),
            two_people: false,
        }
    }

    fn of_settings(settings: &Settings) -> Self {
        let rules: Vec<&str> = settings.rules.iter().map(Name::as_str).collect();
        let categories = settings.categories.iter();
        let key = settings.key.map(|key| key.get().to_string());
        Self {
            texts: Texts::stored([
                ("code", settings.code.to_string()),
                ("name", settings.name.to_string()),
                ("guideline", settings.guideline.as_str().to_owned()),
                ("reason", settings.reason.as_str().to_owned()),
                ("key", key.unwrap_or_default()),
                ("severity", settings.severity.to_string()),
                ("rules", rules.join("\n")),
            ]),
            categories: categories.map(ToString::to_string).collect(),
            two_people: settings.two_people,
        }
    }

    fn of_form(form: &Form) -> Self {
        Self {
            texts: Texts::sent(form, &TEXTS).with("guideline", form.get("guideline")),
            categories: form.all("category").map(str::to_owned).collect(),
            two_people: form.has("two_people"),
        }
    }

    /// A digest of all of them.
    fn seen(&self) -> String {
        let two_people = if self.two_people { "yes" } else { "" };
        let texts = TEXTS.iter().map(|field| self.texts.get(field));
        let categories = self.categories.iter().map(String::as_str);
        stale_form::digest(texts.chain(categories).chain([two_people]))
    }

    /// The settings. `Err`: what is wrong with each field.
    fn parsed(&self) -> Result<Settings, Problems> {
        let mut wrong = Problems::default();
        let text = |field| self.texts.get(field).to_owned();
        let code = wrong.kept("code", PolicyCode::try_from(text("code")));
        let name = wrong.kept("name", Name::try_from(text("name")));
        let guideline = wrong.kept("guideline", Guideline::try_from(text("guideline")));
        let reason = wrong.kept("reason", Reason::try_from(text("reason")));
        let key = self.texts.may::<PolicyKey>(&mut wrong, "key");
        let severity = self.texts.must::<Severity>(&mut wrong, "severity");
        let mut categories = Vec::new();
        for name in &self.categories {
            categories.extend(wrong.kept("categories", name.parse::<Category>()));
        }
        let mut rules = Vec::new();
        let lines = self.texts.get("rules").lines().map(str::trim);
        for name in lines.filter(|name| !name.is_empty()) {
            rules.extend(wrong.kept("rules", Name::try_from(name.to_owned())));
        }
        match (code, name, guideline, reason, key, severity) {
            (Some(code), Some(name), Some(guideline), Some(reason), Some(key), Some(severity))
                if wrong.are_none() =>
            {
                Ok(Settings {
                    code,
                    name,
                    guideline,
                    reason,
                    key,
                    severity,
                    categories,
                    rules,
                    two_people: self.two_people,
                })
            }
            _ => Err(wrong),
        }
    }
}
