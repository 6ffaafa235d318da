//! Why a use case was refused, in terms that every interface can show: no status codes, no HTML.

mod resource;

use std::borrow::Cow;

use domain::{
    decision::ImageProblem, media::NoRuling, role::Role, rules::RuleErrors, scope::Scope,
    submission::Fault,
};
use store::Error;

pub use self::resource::Noun;

/// Why a use case was refused. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The credential is unknown, disabled or expired.
    #[error("The credential is not valid.")]
    Unauthenticated,
    /// The caller is not allowed to do this. The text says why.
    #[error("{1}")]
    Forbidden(Forbidden, Cow<'static, str>),
    /// It does not exist, or the caller cannot see it.
    #[error("There is no such {0}.")]
    NotFound(Noun),
    /// The item has no image that is stored.
    #[error("{0}")]
    NoImage(NoImage),
    /// Members of the request are wrong.
    #[error("Some values are missing or not valid.")]
    Fields(Fields),
    /// The request as a whole is wrong. The text says what to do.
    #[error("{0}")]
    Invalid(Cow<'static, str>),
    /// It conflicts with the present state. The text says what to do.
    #[error("{1}")]
    Conflict(Conflict, Cow<'static, str>),
    /// The requests of this minute are used up.
    #[error(
        "The {limit} requests a minute of {whose} are used up. Please try again in {seconds} s."
    )]
    RateLimited {
        /// Whose requests: `this token`, for example.
        whose: &'static str,
        /// Requests a minute.
        limit: u32,
        /// In how many seconds requests are accepted again.
        seconds: u32,
    },
    /// Too many tests of endpoints run, or that endpoint was tested too often.
    #[error(
        "Endpoints are tested a few times a minute, and two at a time. Please try again in {seconds} s."
    )]
    TooManyPings {
        /// In how many seconds you can try again.
        seconds: u32,
    },
    /// The team reads the archive of an export already, or too many other teams do.
    #[error(
        "A team reads one archive at a time, and a process sends a few. Please try again in {seconds} s."
    )]
    TooManyDownloads {
        /// In how many seconds you can try again.
        seconds: u32,
    },
    /// The password is not that of the account. The answer is the same for accounts that do not
    /// exist.
    #[error("The e-mail address or the password is not right.")]
    SignInFailed,
    /// The code of the second factor is wrong, or was used before.
    #[error("The code is not right, or it was used before.")]
    WrongCode,
    /// This address tried this account too often.
    #[error("There were too many tries. Please try again in {seconds} s.")]
    TooManyTries {
        /// In how many seconds you can try again.
        seconds: u32,
    },
    /// Too much is waiting at the moment. Trying again helps.
    #[error("Too much is waiting at the moment. Please try again.")]
    Overloaded,
    /// The image took too long to decode.
    #[error("The image took too long to decode. Please try again.")]
    PreviewTimedOut,
    /// No process for previews could be started, or it broke.
    #[error("Previews cannot be made at the moment. Please try again later, or tell the operator.")]
    PreviewsUnavailable,
    /// The database refused a statement, failed or could not be reached.
    #[error(transparent)]
    Store(Error),
    /// A defect of Gatehouse. It was logged.
    #[error("Something went wrong on our side. Please try again.")]
    Internal,
}

impl Refused {
    /// The caller does not have a scope.
    pub fn missing_scope(scope: Scope) -> Self {
        let detail = format!("This token does not have the scope {scope}.");
        Self::Forbidden(Forbidden::MissingScope, detail.into())
    }

    /// A person's role does not have a scope.
    pub fn beyond_own(role: Role, scope: Scope) -> Self {
        let detail = format!("Your role {role} does not have the scope {scope}.");
        Self::Forbidden(Forbidden::MissingScope, detail.into())
    }

    /// A person would give or take a role with more scopes than the person has.
    pub fn beyond(role: Role, scope: Scope) -> Self {
        let detail = format!("You do not have the scope {scope}, which the role {role} has.");
        Self::Forbidden(Forbidden::MissingScope, detail.into())
    }

    /// An image that is stored has no preview.
    pub(crate) fn no_preview(problem: ImageProblem) -> Self {
        let why = match problem {
            ImageProblem::TooLarge => "it has too many pixels, or needs too much memory to decode",
            ImageProblem::Unsupported => "it is no image of a kind that is decoded",
            ImageProblem::Undecodable | ImageProblem::NotFetched => "it is damaged or incomplete",
        };
        Self::conflict(
            Conflict::ImageNotPreviewed,
            format!("The image has no preview: {why}."),
        )
    }

    /// It conflicts with the present state.
    pub fn conflict(conflict: Conflict, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::Conflict(conflict, detail.into())
    }

    /// One member of the request is wrong.
    pub fn field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::field_of(FieldFault::Invalid, field, message)
    }

    /// One member of the request is wrong in this way.
    pub fn field_of(
        fault: FieldFault,
        field: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        let problem = FieldProblem {
            field: field.into(),
            message: message.into(),
            position: None,
        };
        Self::Fields(Fields {
            fault,
            problems: vec![problem],
            cut_at: None,
        })
    }

    /// Several members of the request are wrong.
    pub fn fields(problems: Vec<FieldProblem>) -> Self {
        Self::Fields(Fields {
            fault: FieldFault::Invalid,
            problems,
            cut_at: None,
        })
    }

    /// Somebody else edited the draft of a rule group, which has this revision now.
    pub fn draft_changed(revision: i64) -> Self {
        let detail = format!("The draft has the revision {revision} by now: read it again.");
        Self::conflict(Conflict::DraftChanged, detail)
    }
}

/// Refusals of the store that a caller can do something about keep their meaning.
impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        match error {
            Error::NameTaken => Self::conflict(
                Conflict::NameTaken,
                "Another one has this name already; names are unique.",
            ),
            Error::LimitReached(limit) => Self::conflict(Conflict::LimitReached, limit.to_string()),
            Error::TooManyDeleted(deleted) => Self::conflict(
                Conflict::LimitReached,
                format!(
                    "The site has deleted {deleted} webhook endpoints whose deliveries are still kept, which is the most. Change an \
                     endpoint that exists, or wait until the retention has removed the deliveries of deleted ones."
                ),
            ),
            Error::UnknownPlan => Self::field("plan_id", "is no plan"),
            Error::Overloaded => Self::Overloaded,
            error @ (Error::Sql(_) | Error::Unreadable(_) | Error::Unavailable) => {
                Self::Store(error)
            }
        }
    }
}

/// Why a caller is not allowed to do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forbidden {
    /// A scope is missing.
    MissingScope,
    /// Only operators can do it.
    OperatorsOnly,
    /// All teams share it, and only operators can change it.
    SharedList,
    /// The person has a second factor and has not given it in this session.
    FactorRequired,
    /// The person needs a second factor and has none.
    FactorSetUpRequired,
    /// The person must give the password again.
    ReauthenticationRequired,
}

/// Why no image of an item is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoImage {
    /// The item is a text.
    #[error("The item has no image.")]
    Text,
    /// Its image is at a URL.
    #[error("The image has not been fetched from its URL yet.")]
    NotYetFetched,
    /// Its image could not be fetched.
    #[error("The image could not be fetched from its URL.")]
    NotFetched,
    /// What was at its URL is not kept.
    #[error("What was fetched from the item's URL is no image of a format that is kept.")]
    NeverKept,
    /// The retention has removed it.
    #[error("The image is no longer stored: the retention of its site has removed it.")]
    Removed,
}

/// The members of a request that are wrong.
#[derive(Debug)]
pub struct Fields {
    /// The kind of the first mistake.
    pub fault: FieldFault,
    /// What is wrong, member by member.
    pub problems: Vec<FieldProblem>,
    /// How many are listed, if there are more.
    pub cut_at: Option<usize>,
}

/// The kind of a wrong member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldFault {
    /// Its value is not valid.
    Invalid,
    /// It names a rule group that the team does not have.
    UnknownRuleGroup,
    /// It is not allowed in a submission.
    Submission(Fault),
}

/// What is wrong with one member of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldProblem {
    /// The member's name or path, such as `rules[2].pattern`.
    pub field: String,
    /// What to do, for a developer. It continues a sentence that begins with the name: `must be
    /// ...`.
    pub message: String,
    /// The character of the member, from 0, at which the mistake is, if known.
    pub position: Option<usize>,
}

/// Rules are in the member `rules`.
impl From<&RuleErrors> for Refused {
    fn from(errors: &RuleErrors) -> Self {
        let problems = errors.iter().map(|error| FieldProblem {
            field: error.path(),
            message: match error.place {
                Some(place) => format!("{} ({place})", error.message),
                None => error.message.clone(),
            },
            position: error.position,
        });
        Self::Fields(Fields {
            fault: FieldFault::Invalid,
            problems: problems.collect(),
            cut_at: errors.has_more().then_some(RuleErrors::MOST),
        })
    }
}

impl From<NoRuling> for Refused {
    fn from(none: NoRuling) -> Self {
        match none {
            NoRuling::StillPending => Self::conflict(
                Conflict::StillPending,
                "The item is pending: people decide after the machine.",
            ),
            NoRuling::AlreadyDecided(status) => Self::conflict(
                Conflict::AlreadyDecided,
                format!("The item is {status} already."),
            ),
            NoRuling::Changed => Self::conflict(
                Conflict::MediaChanged,
                "Somebody else has decided about the item meanwhile: read it again.",
            ),
            NoRuling::VerdictChanged(now) => Self::conflict(
                Conflict::VerdictChanged,
                format!(
                    "The item's verdict has the number {} by now, and the item is {}: read it again.",
                    now.verdicts, now.status,
                ),
            ),
        }
    }
}

/// The reason for a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The item is not decided by the machine yet.
    StillPending,
    /// The item has that verdict already.
    AlreadyDecided,
    /// Somebody else decided meanwhile.
    MediaChanged,
    /// The item has another verdict than the one that the moderator saw.
    VerdictChanged,
    /// Somebody else edited the draft meanwhile.
    DraftChanged,
    /// Sites use the rule group.
    RuleGroupInUse,
    /// The version is live.
    VersionIsLive,
    /// Rule groups use the hash list.
    HashListInUse,
    /// An entry with this hash exists.
    AlreadyListed,
    /// The item has no hashes.
    ImageNotHashed,
    /// The image cannot be decoded.
    ImageNotPreviewed,
    /// The endpoint is disabled.
    EndpointDisabled,
    /// The delivery has not ended.
    DeliveryPending,
    /// The team has a backtest that has not ended.
    BacktestRunning,
    /// A scan of the hash list over the same items has not ended.
    ScanRunning,
    /// The endpoint has a recovery that has not ended.
    RecoveryRunning,
    /// Somebody else has the review by now, or nobody.
    ReviewNotYours,
    /// Somebody has decided in the review already.
    ReviewDecided,
    /// The caller has not decided in the review.
    ReviewUndecided,
    /// What was decided in the review was told already.
    ReviewTold,
    /// Somebody has appealed already.
    AppealOpen,
    /// The item waits for a person anyway.
    StillInReview,
    /// The machine decided about the item, without a person.
    NeverInReview,
    /// The team has a bulk decision that has not ended.
    BulkDecisionRunning,
    /// More reviews match the filter than the lead was shown.
    MoreReviewsMatch,
    /// The leads have the review already.
    ReviewEscalated,
    /// Another one has this name.
    NameTaken,
    /// The site or the team is closed, or being closed.
    Closing,
    /// A legal hold is in force.
    LegalHold,
    /// The limit for these is reached.
    LimitReached,
    /// The team would have no owner.
    LastOwner,
    /// The person is in the team already.
    AlreadyMember,
    /// The person has a second factor already.
    FactorExists,
    /// The person is in other teams, too.
    InOtherTeams,
}
