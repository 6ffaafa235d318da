//! Members that are one of a closed set of names.

use domain::{
    audit::Action,
    backtest::Decided,
    breaker::BreakerState,
    chain::State,
    closure::{ClosureState, WaitsFor},
    erasure::SubjectKind,
    event::EventKind,
    image::ImageFormat,
    image_hash::{HashAlgorithm, ListKind},
    media::{
        CompatUnchecked, ContentType, Modality, ModerationType, OnFailure, Ruling, Status,
        StatusVocabulary,
    },
    plan::SubscriptionState,
    recovery::RecoveryKind,
    review::{ReviewKind, Severity, Tier},
    role::Role,
    scope::Scope,
    score::Category,
    statistics::Interval,
    webhook::DeliveryStatus,
};
use poem_openapi::registry::MetaSchema;

use super::Described;

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
