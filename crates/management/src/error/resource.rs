//! The things that can be missing.

/// What was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noun {
    /// A backtest.
    Backtest,
    /// A bulk decision.
    BulkDecision,
    /// A closure.
    Closure,
    /// A delivery.
    Delivery,
    /// A webhook endpoint.
    Endpoint,
    /// An erasure.
    Erasure,
    /// A legal hold.
    Hold,
    /// An entry of a hash list.
    Entry,
    /// An export of a site's data.
    Export,
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
    /// A policy of the review desk.
    Policy,
    /// A recovery of an endpoint's deliveries.
    Recovery,
    /// What the right decision about an item is.
    Golden,
    /// A review, or one that somebody else has.
    Review,
    /// A rule of a draft.
    Rule,
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
    /// A person's connection with a provider of single sign-on.
    Identity,
    /// A link that is used once.
    Link,
    /// A version of a rule group.
    Version,
    /// A queue.
    Queue,
}

impl std::fmt::Display for Noun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Backtest => "backtest",
            Self::BulkDecision => "bulk decision",
            Self::Closure => "closure",
            Self::Delivery => "delivery",
            Self::Endpoint => "webhook endpoint",
            Self::Erasure => "erasure",
            Self::Hold => "legal hold",
            Self::Entry => "entry",
            Self::Export => "export",
            Self::HashList => "hash list",
            Self::Image => "image",
            Self::Import => "import",
            Self::Media => "media item",
            Self::Plan => "plan",
            Self::Policy => "policy",
            Self::Recovery => "recovery",
            Self::Golden => "known answer",
            Self::Review => "review",
            Self::Rule => "rule",
            Self::RuleGroup => "rule group",
            Self::Scan => "scan",
            Self::Site => "site",
            Self::SiteKey => "site key",
            Self::Team => "team",
            Self::Token => "token",
            Self::Person => "person",
            Self::Invitation => "invitation",
            Self::Session => "session",
            Self::Identity => "connection",
            Self::Link => "link",
            Self::Version => "version",
            Self::Queue => "queue",
        })
    }
}
