//! What the form of a policy shows and sends: texts, which become settings if they are valid.

use domain::{
    name::Name,
    reason::Reason,
    review::{Guideline, PolicyCode, PolicyKey, Severity},
    score::Category,
};
use management::review_policies::Settings;

use crate::{form::Form, problems::Problems, stale_form};

/// The texts of the form.
pub(super) struct Values {
    pub(super) code: String,
    pub(super) name: String,
    pub(super) guideline: String,
    pub(super) reason: String,
    pub(super) key: String,
    pub(super) severity: String,
    pub(super) categories: Vec<String>,
    /// One name in each line.
    pub(super) rules: String,
    pub(super) two_people: bool,
}

impl Values {
    /// Those of a new policy.
    pub(super) fn new() -> Self {
        Self {
            code: String::new(),
            name: String::new(),
            guideline: String::new(),
            reason: String::new(),
            key: String::new(),
            severity: Severity::Normal.to_string(),
            categories: Vec::new(),
            rules: String::new(),
            two_people: false,
        }
    }

    pub(super) fn of_settings(settings: &Settings) -> Self {
        let rules: Vec<&str> = settings.rules.iter().map(Name::as_str).collect();
        Self {
            code: settings.code.to_string(),
            name: settings.name.to_string(),
            guideline: settings.guideline.as_str().to_owned(),
            reason: settings.reason.as_str().to_owned(),
            key: settings
                .key
                .map(|key| key.get().to_string())
                .unwrap_or_default(),
            severity: settings.severity.to_string(),
            categories: settings
                .categories
                .iter()
                .map(ToString::to_string)
                .collect(),
            rules: rules.join("\n"),
            two_people: settings.two_people,
        }
    }

    pub(super) fn of_form(form: &Form) -> Self {
        let text = |name: &str| form.get(name).trim().to_owned();
        Self {
            code: text("code"),
            name: text("name"),
            guideline: form.get("guideline").to_owned(),
            reason: text("reason"),
            key: text("key"),
            severity: text("severity"),
            categories: form.all("category").map(str::to_owned).collect(),
            rules: text("rules"),
            two_people: form.has("two_people"),
        }
    }

    /// A digest of all of them.
    pub(super) fn seen(&self) -> String {
        let Self {
            code,
            name,
            guideline,
            reason,
            key,
            severity,
            categories,
            rules,
            two_people,
        } = self;
        let two_people = if *two_people { "yes" } else { "" };
        let single = [code, name, guideline, reason, key, severity, rules];
        let texts = single.into_iter().chain(categories).map(String::as_str);
        stale_form::digest(texts.chain([two_people]))
    }

    /// The settings.
    ///
    /// # Errors
    /// What is wrong with each field.
    pub(super) fn parsed(&self) -> Result<Settings, Problems> {
        let mut problems = Problems::default();
        let code = PolicyCode::try_from(self.code.clone());
        let code = kept(&mut problems, "code", code);
        let name = kept(&mut problems, "name", Name::try_from(self.name.clone()));
        let guideline = Guideline::try_from(self.guideline.clone());
        let guideline = kept(&mut problems, "guideline", guideline);
        let reason = Reason::try_from(self.reason.clone());
        let reason = kept(&mut problems, "reason", reason);
        let key = match self.key.as_str() {
            "" => Some(None),
            key => kept(&mut problems, "key", key.parse::<PolicyKey>()).map(Some),
        };
        let severity = kept(&mut problems, "severity", self.severity.parse::<Severity>());
        let mut categories = Vec::new();
        for name in &self.categories {
            categories.extend(kept(&mut problems, "categories", name.parse::<Category>()));
        }
        let mut rules = Vec::new();
        let lines = self.rules.lines().map(str::trim);
        for name in lines.filter(|name| !name.is_empty()) {
            rules.extend(kept(
                &mut problems,
                "rules",
                Name::try_from(name.to_owned()),
            ));
        }
        match (code, name, guideline, reason, key, severity) {
            (Some(code), Some(name), Some(guideline), Some(reason), Some(key), Some(severity))
                if problems.are_none() =>
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
            _ => Err(problems),
        }
    }
}

/// The value, or a problem at its field.
pub(super) fn kept<T, E: std::fmt::Display>(
    problems: &mut Problems,
    field: &str,
    parsed: Result<T, E>,
) -> Option<T> {
    match parsed {
        Ok(value) => Some(value),
        Err(wrong) => {
            problems.add(field, wrong.to_string());
            None
        }
    }
}
