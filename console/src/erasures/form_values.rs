//! What the form of a new erasure has.

use domain::{
    erasure::{MOST_NAMED, MetadataValue, Subject, SubjectKind},
    id::{MediaId, TeamId},
};
use management::{Refused, erasures::Wanted};

use crate::form::Form;

/// The fields that can have problems beside them.
pub(super) const FIELDS: &[&str] = &["what", "pointer", "site_id", "typed"];

/// The values, as they were typed.
pub(super) struct Values<'a> {
    pub(super) kind: &'a str,
    pub(super) what: &'a str,
    pub(super) pointer: &'a str,
    pub(super) site: &'a str,
}

impl<'a> Values<'a> {
    pub(super) fn of(form: &'a Form) -> Self {
        Self {
            kind: form.get("kind"),
            what: form.get("what"),
            pointer: form.get("pointer"),
            site: form.get("site"),
        }
    }

    pub(super) fn read(&self, team: TeamId) -> Result<Wanted, Refused> {
        let kind = self.kind.parse::<SubjectKind>();
        let kind =
            kind.map_err(|_| Refused::field("kind", "must be one of those that are offered"))?;
        let site = match self.site {
            "" => None,
            site => Some(
                site.parse()
                    .map_err(|_| Refused::field("site_id", "is no site of the team"))?,
            ),
        };
        Ok(Wanted {
            team: Some(team),
            site,
            subject: self.subject(kind)?,
        })
    }

    fn subject(&self, kind: SubjectKind) -> Result<Subject, Refused> {
        let wrong = |message: String| Refused::field("what", message);
        let lines = self.what.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty());
        let is_named = matches!(kind, SubjectKind::MediaIds | SubjectKind::AppMediaIds);
        if is_named && !(1..=MOST_NAMED).contains(&lines.clone().count()) {
            return Err(wrong(format!(
                "must have 1 to {MOST_NAMED} ids, one a line"
            )));
        }
        Ok(match kind {
            SubjectKind::MediaIds => {
                let ids = lines.map(|line| {
                    let id = line.parse::<MediaId>();
                    id.map_err(|_| wrong(format!("has “{line}”, which is no id of an item")))
                });
                Subject::MediaIds(ids.collect::<Result<_, _>>()?)
            }
            SubjectKind::AppMediaIds => Subject::AppMediaIds(lines.map(str::to_owned).collect()),
            SubjectKind::Author => {
                let author = self.what.trim().parse();
                Subject::Author(author.map_err(|error| wrong(format!("{error}")))?)
            }
            SubjectKind::Metadata => Subject::Metadata(MetadataValue {
                pointer: self
                    .pointer
                    .trim()
                    .to_owned()
                    .try_into()
                    .map_err(|error| Refused::field("pointer", format!("{error}")))?,
                value: serde_json::from_str(self.what.trim()).map_err(|_| {
                    wrong(
                        "must be JSON: a text is in quotation marks, such as \"user-4711\"".into(),
                    )
                })?,
            }),
            SubjectKind::Everything => Subject::Everything {},
        })
    }
}
