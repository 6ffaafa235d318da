//! Members whose types come from `domain`: ids, numbers, texts, and closed sets of names.

use domain::{
    audit::Action,
    author::Author,
    backtest::Decided,
    bounded_integer::BoundedInteger,
    breaker::BreakerState,
    chain::State,
    closure::{ClosureState, WaitsFor},
    email::Email,
    erasure::SubjectKind,
    event::EventKind,
    id::{
        ClosureId, ExportId, GroupVersionId, LinkId, MediaId, MemberId, PlanId, ReviewId,
        ReviewPolicyId, RuleGroupId, RuleId, SessionId, SiteId, TeamId, TokenId,
    },
    image::ImageFormat,
    image_hash::{HashAlgorithm, HashPrefix, ListKind, Pdq, Sha256Digest},
    media::{
        CompatUnchecked, ContentType, Modality, ModerationType, OnFailure, Ruling, Status,
        StatusVocabulary,
    },
    metadata_pointer::MetadataPointer,
    name::Name,
    plan::SubscriptionState,
    policy::Policy,
    reason::Reason,
    recovery::RecoveryKind,
    review::{Guideline, NoteText, PolicyCode, ReviewKind, Severity, Tier},
    role::Role,
    scope::Scope,
    score::{Category, Scores},
    statistics::Interval,
    webhook::{DeliveryStatus, EndpointUrl},
};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use uuid::Uuid;

use super::Described;

/// Any characters but NUL.
const WITHOUT_NUL: &str = r"^[^\x00]*$";

/// Any characters but NUL, and not only white space.
const NOT_BLANK: &str = r"^[^\x00]*[^\s\x00][^\x00]*$";

/// Describes types of text: what is expected, in words and as a schema.
macro_rules! texts {
    ($($name:ident: $expected:expr, $schema:expr;)+) => {$(
        impl Described for $name {
            fn expected() -> String {
                $expected.into()
            }

            fn schema() -> MetaSchema {
                $schema
            }
        }
    )+};
}

texts! {
    Name: format!(
        "a text of 1 to {} characters, without control characters and without white space at its ends",
        Name::LONGEST,
    ), filled(Name::LONGEST, None);
    PolicyCode: format!(
        "a text of 1 to {} of the characters a to z, 0 to 9, _, - and ., the first a letter",
        PolicyCode::LONGEST,
    ), filled(PolicyCode::LONGEST, Some("^[a-z][a-z0-9_.-]*$"));
    Guideline: format!("a text of at most {} characters, without NUL", Guideline::LONGEST),
        at_most(Guideline::LONGEST, WITHOUT_NUL);
    NoteText: not_blank_expected(NoteText::LONGEST, "characters"),
        filled(NoteText::LONGEST, Some(NOT_BLANK));
    Author: format!("a text of 1 to {} characters, none of them NUL", Author::LONGEST),
        filled(Author::LONGEST, Some(WITHOUT_NUL));
    MetadataPointer: format!(
        "a JSON pointer such as /user/id, of at most {} characters and {} names",
        MetadataPointer::LONGEST,
        MetadataPointer::DEEPEST,
    ), filled(
        MetadataPointer::LONGEST,
        Some(&format!(r"^(/([^/~\x00]|~[01])*){{1,{}}}$", MetadataPointer::DEEPEST)),
    );
    Email: format!(
        "an e-mail address of at most {} ASCII characters, such as ada@example.com",
        Email::LONGEST,
    ), at_most(Email::LONGEST, Email::PATTERN);
    Reason: not_blank_expected(Reason::LONGEST, "characters"),
        filled(Reason::LONGEST, Some(NOT_BLANK));
    // A schema counts characters. A text with too many characters has too many bytes, too.
    Policy: not_blank_expected(Policy::LONGEST, "bytes"),
        filled(Policy::LONGEST, Some(NOT_BLANK));
    EndpointUrl: EndpointUrl::EXPECTED, MetaSchema {
        max_length: Some(EndpointUrl::LONGEST),
        ..MetaSchema::new_with_format("string", "uri")
    };
    HashPrefix: "4 to 64 hexadecimal digits", pattern("^[0-9A-Fa-f]{4,64}$");
    Pdq: "64 hexadecimal digits", pattern("^[0-9A-Fa-f]{64}$");
    Sha256Digest: "64 hexadecimal digits", pattern("^[0-9A-Fa-f]{64}$");
}

fn not_blank_expected(longest: usize, unit: &str) -> String {
    format!("a text of 1 to {longest} {unit}, without NUL and not only white space")
}

/// A text of at least one character.
fn filled(longest: usize, pattern: Option<&str>) -> MetaSchema {
    MetaSchema {
        min_length: Some(1),
        max_length: Some(longest),
        pattern: pattern.map(str::to_owned),
        ..MetaSchema::new("string")
    }
}

fn at_most(longest: usize, form: &str) -> MetaSchema {
    MetaSchema {
        max_length: Some(longest),
        ..pattern(form)
    }
}

fn pattern(form: &str) -> MetaSchema {
    MetaSchema {
        pattern: Some(form.to_owned()),
        ..MetaSchema::new("string")
    }
}

impl Described for bool {
    fn expected() -> String {
        "true or false".to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema::new("boolean")
    }
}

impl Described for Uuid {
    fn expected() -> String {
        "a UUID".to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema::new_with_format("string", "uuid")
    }
}

macro_rules! ids {
    ($($name:ident),+ $(,)?) => {$(
        impl Described for $name {
            fn expected() -> String {
                Uuid::expected()
            }

            fn schema() -> MetaSchema {
                <Uuid as Described>::schema()
            }
        }
    )+};
}

ids!(
    ClosureId,
    ExportId,
    GroupVersionId,
    LinkId,
    MediaId,
    MemberId,
    PlanId,
    ReviewId,
    ReviewPolicyId,
    RuleGroupId,
    RuleId,
    SessionId,
    SiteId,
    TeamId,
    TokenId
);

impl<const MIN: i64, const MAX: i64> Described for BoundedInteger<MIN, MAX> {
    fn expected() -> String {
        format!("a whole number from {MIN} to {MAX}")
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "bounds are numbers that JSON holds exactly"
    )]
    fn schema() -> MetaSchema {
        MetaSchema {
            minimum: Some(MIN as f64),
            maximum: Some(MAX as f64),
            ..MetaSchema::new_with_format("integer", "int64")
        }
    }
}

impl Described for Scores {
    const NAME: Option<&str> = Some("Scores");

    fn expected() -> String {
        let names = Category::ALL.map(|category| format!("`{category}`"));
        format!(
            "an object of scores from 0 to 1 by category: {}",
            names.join(", ")
        )
    }

    fn schema() -> MetaSchema {
        let score = || MetaSchema {
            minimum: Some(0.0),
            maximum: Some(1.0),
            ..MetaSchema::new("number")
        };
        let of = |category: Category| {
            let score = MetaSchemaRef::Inline(Box::new(score()));
            (category.as_str(), score)
        };
        MetaSchema {
            description: Some("Scores from 0 to 1 by category."),
            properties: Category::ALL.map(of).into(),
            ..MetaSchema::new("object")
        }
    }
}

macro_rules! named_sets {
    ($($set:ident as $name:literal: $description:literal),+ $(,)?) => {$(
        impl Described for $set {
            const NAME: Option<&str> = Some($name);

            fn expected() -> String {
                let names: Vec<String> = Self::ALL.iter().map(|member| format!("`{member}`")).collect();
                format!("one of {}", names.join(", "))
            }

            fn schema() -> MetaSchema {
                MetaSchema {
                    description: Some($description),
                    enum_items: Self::ALL.iter().map(|member| member.as_str().into()).collect(),
                    ..MetaSchema::new("string")
                }
            }
        }
    )+};
}

named_sets!(
    Action as "AuditAction": "What the audit log records.",
    Category as "Category": "What content can be scored for.",
    ClosureState as "ClosureState": "How far a closure is. During `grace`, it can be cancelled.",
    CompatUnchecked as "CompatUnchecked": "What clients of OpenAI get for content of which something could not be checked: a flagged result, or an error.",
    ContentType as "ContentType": "`image` as soon as there is an image, else `text`.",
    Decided as "HumanDecision": "What a moderator decided about an item, if one did.",
    DeliveryStatus as "DeliveryStatus": "The state of a delivery.",
    EventKind as "EventKind": "The kind of an event.",
    Interval as "StatisticsInterval": "The length of a bucket. Days are days in UTC.",
    HashAlgorithm as "HashAlgorithm": "How images are compared: exactly, or by how they look.",
    ImageFormat as "ImageFormat": "The format of an image.",
    ListKind as "HashListKind": "What it means that an image is on the list.",
    Modality as "Modality": "The part of an item that was analysed.",
    ModerationType as "ModerationType": "Who or what decided.",
    OnFailure as "OnFailure": "What happens to an item that could not be checked completely.",
    BreakerState as "BreakerState": "`closed`: requests are sent. `open`: none is sent. `half_open`: one request tests whether it works again.",
    ReviewKind as "ReviewKind": "Why a person is asked: the item waits for its verdict (`review`), or somebody has appealed against it (`appeal`). The desk shows no other kinds.",
    Severity as "ReviewSeverity": "How urgent a review is: that of the most severe policy that is suggested, otherwise `normal`.",
    Tier as "ReviewTier": "Who is asked: everybody who may decide, or people with the scope `reviews:manage`.",
    RecoveryKind as "RecoveryKind": "Which deliveries are sent again.",
    Role as "Role": "What a person may do in a team, or on the whole instance.",
    Ruling as "Decision": "What a moderator decides.",
    Scope as "Scope": "What a token may do.",
    State as "JobState": "The state of a job that runs in the background.",
    Status as "Status": "The state of a media item.",
    SubjectKind as "ErasureKind": "How the items of an erasure are chosen.",
    WaitsFor as "ClosureWaitsFor": "What a closure waits for, beside the end of its grace and its own erasures.",
    StatusVocabulary as "StatusVocabulary": "How the status endpoint spells the states of decided items.",
    SubscriptionState as "SubscriptionState": "The state of a subscription.",
);
