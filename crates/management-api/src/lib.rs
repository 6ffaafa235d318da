//! The management interface: operators and teams call it with a token to configure and monitor
//! moderation.
//!
//! The crate `management` has the use cases. Here, each noun has a file with its operations, the
//! shapes of its requests and answers, and what the document says beyond these.

mod audit_log;
mod caller;
mod closures;
mod erasures;
mod exports;
mod hash_lists;
mod keys;
mod legal_holds;
mod list;
mod media;
mod openapi;
mod people;
mod plans;
mod providers;
mod queues;
mod recoveries;
mod review_policies;
mod reviews;
mod rule_groups;
mod saved_file;
mod sites;
mod statistics;
mod subscriptions;
mod teams;
mod tokens;
mod usage;
mod webhooks;

use std::sync::Arc;

use api_common::{Operations, openapi::written, public_schemas::Pings};
use http_server::BodyReader;
use management::Management;
use poem_openapi::{OpenApiService, Tags};

use self::{
    caller::Caller,
    list::{After, DEFAULT_LIMIT, Limit, List, Part},
    openapi::{Operation, example_values},
};

/// The path of all operations. It contains the version.
pub const PREFIX: &str = "/management/v1";

/// The operations, noun by noun. All operations of one path must be in the same noun.
type Nouns = (
    (teams::Teams, plans::Plans, subscriptions::Subscriptions),
    (usage::Usage, statistics::Statistics),
    (sites::Sites, exports::Exports, keys::SiteKeys),
    rule_groups::Nouns,
    hash_lists::Nouns,
    (recoveries::Recoveries, webhooks::Nouns),
    providers::Providers,
    queues::Nouns,
    (
        media::Media,
        reviews::Nouns,
        review_policies::Nouns,
        erasures::Erasures,
        closures::Closures,
        legal_holds::LegalHolds,
    ),
    (tokens::Tokens, people::Nouns),
    audit_log::AuditLog,
);

/// The operations, which work with `management` and read bodies with `reader`.
pub fn operations(management: Arc<Management>, reader: BodyReader) -> Operations {
    Operations::new(PREFIX, service, document, management, reader)
}

/// The OpenAPI document: pretty JSON with a newline at the end.
pub fn document() -> String {
    written(&service(), |document| {
        openapi::finish(document, descriptions());
        rule_groups::document(document);
    })
}

/// The operations, with what their webhooks look like.
fn service() -> OpenApiService<Nouns, Pings> {
    OpenApiService::new(Nouns::default(), "Gatehouse management", "1.0.0")
        .server(PREFIX)
        .webhooks::<Pings>()
}

/// What the document says about each operation, in the same order.
fn descriptions() -> Vec<Operation> {
    [
        teams::descriptions(),
        plans::descriptions(),
        subscriptions::descriptions(),
        usage::descriptions(),
        statistics::descriptions(),
        sites::descriptions(),
        exports::descriptions(),
        keys::descriptions(),
        rule_groups::descriptions(),
        hash_lists::descriptions(),
        recoveries::descriptions(),
        webhooks::descriptions(),
        providers::descriptions(),
        queues::descriptions(),
        media::descriptions(),
        reviews::descriptions(),
        review_policies::descriptions(),
        erasures::descriptions(),
        closures::descriptions(),
        legal_holds::descriptions(),
        tokens::descriptions(),
        people::descriptions(),
        audit_log::descriptions(),
    ]
    .concat()
}

#[derive(Tags)]
enum Tag {
    /// The tenants of the installation.
    Teams,
    /// How much a team can use: quotas and limits.
    Plans,
    /// The plan of each team, and whether its subscription is active.
    Subscriptions,
    /// How much of its plan each team has used.
    Usage,
    /// Applications that submit media.
    Sites,
    /// Archives of everything that a site has.
    Exports,
    /// Keys with which applications submit media and read their status.
    #[oai(rename = "Site keys")]
    SiteKeys,
    /// Rules that judge submissions.
    #[oai(rename = "Rule groups")]
    RuleGroups,
    /// Tests of rules with items that were judged before.
    Backtests,
    /// Hashes of known images.
    #[oai(rename = "Hash lists")]
    HashLists,
    /// Endpoints, signing secrets, events and deliveries.
    Webhooks,
    /// Services and models that score texts and images.
    Providers,
    /// The job queues: depth, pauses, caps, workers and dead jobs.
    Queues,
    /// Submitted items, with their analyses, verdicts and events.
    Media,
    /// What moderators look at: the desk, its policies and decisions.
    Reviews,
    /// What must not be removed, however old it is.
    #[oai(rename = "Legal holds")]
    LegalHolds,
    /// What happened, by hour and day.
    Statistics,
    /// Removal of everything that is stored about items, with certificates.
    Erasures,
    /// Sites and teams that are closed: disabled at once, and erased after a grace.
    Closures,
    /// Credentials for this interface.
    Tokens,
    /// People who sign in: their roles, invitations and sessions.
    People,
    /// A record of every change.
    #[oai(rename = "Audit log")]
    AuditLog,
}
