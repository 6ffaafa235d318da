//! Why a use case was refused, in terms that every face can show: no status codes, no HTML.

use std::borrow::Cow;

use domain::{media::NoRuling, role::Role, rules::RuleErrors, scope::Scope, submission::Fault};

/// Why a use case was refused. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The credential is unknown, disabled or expired.
    #[error("The credential is not valid.")]
    Unauthenticated,
    /// The caller may not do this. The text says why.
    #[error("{1}")]
    Forbidden(Forbidden, Cow<'static, str>),
    /// It does not exist, or the caller may not know of it.
    #[error("There is no such {0}.")]
    NotFound(Noun),
    /// Members of the request are wrong.
    #[error("Some values are missing or not valid.")]
    Fields(Fields),
    /// The request as a whole is wrong. The text says what to do.
    #[error("{0}")]
    Invalid(Cow<'static, str>),
    /// It does not fit the present state. The text says what to do.
    #[error("{1}")]
    Conflict(Conflict, Cow<'static, str>),
    /// The requests of this minute are used up.
    #[error(
        "The {limit} requests a minute of {whose} are used up. Please try again in {seconds} s."
    )]
    RateLimited {
        /// Whose: `this token`, for example.
        whose: &'static str,
        /// Requests a minute.
        limit: u32,
        /// When there are requests again.
        seconds: u32,
    },
    /// Too many tests of endpoints run, or that endpoint was tested too often.
    #[error(
        "Endpoints are tested a few times a minute, and two at a time. Please try again in {seconds} s."
    )]
    TooManyPings {
        /// When there may be another one.
        seconds: u32,
    },
    /// Account and password do not belong together. It is the same for accounts that do not exist.
    #[error("The e-mail address or the password is not right.")]
    SignInFailed,
    /// The code of the second factor is wrong, or was used before.
    #[error("The code is not right, or it was used before.")]
    WrongCode,
    /// This address tried this account too often.
    #[error("There were too many tries. Please try again in {seconds} s.")]
    TooManyTries {
        /// When there may be another one.
        seconds: u32,
    },
    /// Too much waits at the moment. Trying again helps.
    #[error("Too much is waiting at the moment. Please try again.")]
    Overloaded,
    /// The database refused, failed or was not there.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A defect of ours; it was logged.
    #[error("Something went wrong on our side. Please try again.")]
    Internal,
}

/// Why a caller may not do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forbidden {
    /// A scope is missing.
    MissingScope,
    /// Only operators may do it.
    OperatorsOnly,
    /// It is shared by all teams, and only operators change it.
    SharedList,
    /// The person has a second factor and has not given it in this session.
    FactorRequired,
    /// The person needs a second factor and has none.
    FactorSetUpRequired,
    /// The person must give the password again.
    ReauthenticationRequired,
}

/// What does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The item is not decided by the machine yet.
    StillPending,
    /// The item has that verdict already.
    AlreadyDecided,
    /// Somebody else decided meanwhile.
    MediaChanged,
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
    /// There may be no more of these.
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

/// What was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noun {
    /// A backtest.
    Backtest,
    /// A delivery.
    Delivery,
    /// A webhook endpoint.
    Endpoint,
    /// An entry of a hash list.
    Entry,
    /// A hash list.
    HashList,
    /// The image of a media item.
    Image,
    /// An import into a hash list.
    Import,
    /// A media item.
    Media,
    /// A plan.
    Plan,
    /// A recovery of an endpoint's deliveries.
    Recovery,
    /// A rule group.
    RuleGroup,
    /// A scan of stored images.
    Scan,
    /// A site.
    Site,
    /// A site key.
    SiteKey,
    /// A team.
    Team,
    /// A management token.
    Token,
    /// Somebody in a team, or an operator.
    Person,
    /// An invitation.
    Invitation,
    /// A session of somebody.
    Session,
    /// A link that is used once.
    Link,
    /// A version of a rule group.
    Version,
}

impl std::fmt::Display for Noun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Backtest => "backtest",
            Self::Delivery => "delivery",
            Self::Endpoint => "webhook endpoint",
            Self::Entry => "entry",
            Self::HashList => "hash list",
            Self::Image => "image",
            Self::Import => "import",
            Self::Media => "media item",
            Self::Plan => "plan",
            Self::Recovery => "recovery",
            Self::RuleGroup => "rule group",
            Self::Scan => "scan",
            Self::Site => "site",
            Self::SiteKey => "site key",
            Self::Team => "team",
            Self::Token => "token",
            Self::Person => "person",
            Self::Invitation => "invitation",
            Self::Session => "session",
            Self::Link => "link",
            Self::Version => "version",
        })
    }
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
    /// It is not what it must be.
    Invalid,
    /// It names a rule group that the team does not have.
    UnknownRuleGroup,
    /// It is not what a submission may have.
    Submission(Fault),
}

/// What is wrong with one member of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldProblem {
    /// The member's name or path, such as `rules[2].pattern`.
    pub field: String,
    /// What to do, for a developer. Reads on after the name: `must be ...`.
    pub message: String,
    /// At which character of the member, from 0, it goes wrong, where that is known.
    pub position: Option<usize>,
}

impl Refused {
    /// The caller lacks a scope.
    pub fn missing_scope(scope: Scope) -> Self {
        let detail = format!("This token does not have the scope {scope}.");
        Self::Forbidden(Forbidden::MissingScope, detail.into())
    }

    /// A person's role lacks a scope.
    pub fn beyond_own(role: Role, scope: Scope) -> Self {
        let detail = format!("Your role {role} does not have the scope {scope}.");
        Self::Forbidden(Forbidden::MissingScope, detail.into())
    }

    /// Somebody would give, or take, more than that person has.
    pub fn beyond(role: Role, scope: Scope) -> Self {
        let detail = format!("You do not have the scope {scope}, which the role {role} has.");
        Self::Forbidden(Forbidden::MissingScope, detail.into())
    }

    /// It does not fit the present state.
    pub fn conflict(conflict: Conflict, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::Conflict(conflict, detail.into())
    }

    /// One member of the request is not what it must be.
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

    /// Several members of the request are not what they must be.
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
        }
    }
}
