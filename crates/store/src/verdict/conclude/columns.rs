//! A batch of verdicts as arrays, one for each column of the statement.

use domain::{decision::MissingScores, media::Step};
use uuid::Uuid;

use super::Conclusion;
use crate::{created_event::Created, json::to_json};

/// Verdicts as the columns of their statement.
#[derive(Default)]
pub(super) struct Columns<'a> {
    pub(super) media: Vec<Uuid>,
    pub(super) number: Vec<i16>,
    pub(super) previous: Vec<&'a str>,
    pub(super) status: Vec<&'a str>,
    pub(super) moderation_type: Vec<&'a str>,
    pub(super) details: Vec<&'a str>,
    pub(super) trace: Vec<&'a str>,
    /// The event that tells the verdict.
    pub(super) event: Vec<Uuid>,
    /// The event that tells the acceptance, and its endpoints; none if it was told.
    pub(super) created: Vec<Option<Uuid>>,
    pub(super) endpoints: Vec<Option<String>>,
    pub(super) scores: Vec<Option<String>>,
    pub(super) image_scored: Vec<Option<bool>>,
    /// None if there is no analysis to store.
    pub(super) providers: Vec<Option<String>>,
    pub(super) unchecked: Vec<Option<String>>,
    /// None if there are none, which is usual.
    pub(super) gaps: Vec<Option<String>>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(verdicts: &[Conclusion<'a>]) -> Result<Self, sqlx::Error> {
        let mut columns = Self::default();
        for verdict in verdicts {
            columns.push(verdict)?;
        }
        Ok(columns)
    }

    pub(super) fn push(&mut self, verdict: &Conclusion<'a>) -> Result<(), sqlx::Error> {
        let Conclusion {
            media,
            step,
            moderation_type,
            details,
            trace,
            analysed,
            created,
        } = *verdict;
        self.media.push(media.as_uuid());
        self.number.push(number(step));
        self.previous.push(step.from().status.as_str());
        self.status.push(step.to().as_str());
        self.moderation_type.push(moderation_type.as_str());
        self.details.push(details);
        self.trace.push(trace);
        self.event.push(Uuid::now_v7());
        self.created.push(created.map(Created::event));
        self.endpoints.push(created.map(Created::endpoints_as_text));
        let scores = analysed.and_then(|analysed| analysed.scores.as_ref());
        self.scores.push(scores.map(to_json).transpose()?);
        self.image_scored
            .push(analysed.and_then(|analysed| analysed.image_scored));
        let providers = analysed.map(|analysed| to_json(&analysed.providers));
        self.providers.push(providers.transpose()?);
        let unchecked = analysed.map(|analysed| to_json(&analysed.unchecked));
        self.unchecked.push(unchecked.transpose()?);
        let gaps = analysed.filter(|analysed| !analysed.gaps.iter().all(MissingScores::is_empty));
        let gaps = gaps.map(|analysed| to_json(&analysed.gaps));
        self.gaps.push(gaps.transpose()?);
        Ok(())
    }
}

/// A verdict's number as it is stored. Above 32,767 it is a number that exists already, which the
/// guard refuses.
pub(super) fn number(step: Step) -> i16 {
    i16::try_from(step.number()).unwrap_or(i16::MAX)
}
