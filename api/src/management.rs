//! The management interface: what operators and teams call, with a token, to set up and to watch what the public interface
//! works by.
//!
//! What an operation does is in the crate `management`. Here is its face: a noun is a file with its operations, the shapes
//! of its requests and answers, and what the document says of them beyond that.

mod audit_log;
mod caller;
pub(crate) mod document;
mod hash_lists;
mod keys;
mod list;
mod media;
mod people;
mod plans;
mod providers;
mod recoveries;
mod rule_groups;
mod sites;
mod subscriptions;
mod teams;
mod tokens;
mod usage;
mod webhooks;

use poem_openapi::{OpenApiService, Tags};

use crate::public::Pings;

/// The path under which the operations stand: the version is part of it.
pub(crate) const PREFIX: &str = "/management/v1";

/// The operations, noun by noun. All operations of one path stand in one of these.
type Nouns = (
    teams::Teams,
    plans::Plans,
    subscriptions::Subscriptions,
    usage::Usage,
    sites::Sites,
    keys::SiteKeys,
    rule_groups::Nouns,
    hash_lists::Nouns,
    recoveries::Recoveries,
    webhooks::Nouns,
    providers::Providers,
    media::Media,
    tokens::Tokens,
    people::Nouns,
    audit_log::AuditLog,
);

pub(crate) fn service() -> OpenApiService<Nouns, Pings> {
    let nouns = (
        teams::Teams,
        plans::Plans,
        subscriptions::Subscriptions,
        usage::Usage,
        sites::Sites,
        keys::SiteKeys,
        rule_groups::nouns(),
        hash_lists::nouns(),
        recoveries::Recoveries,
        webhooks::nouns(),
        providers::Providers,
        media::Media,
        tokens::Tokens,
        people::nouns(),
        audit_log::AuditLog,
    );
    OpenApiService::new(nouns, "Gatehouse management", "1.0.0")
        .server(PREFIX)
        .webhooks::<Pings>()
}

/// What the document says of each operation, in the same order.
fn described() -> Vec<document::Operation> {
    [
        teams::described(),
        plans::described(),
        subscriptions::described(),
        usage::described(),
        sites::described(),
        keys::described(),
        rule_groups::described(),
        hash_lists::described(),
        recoveries::described(),
        webhooks::described(),
        providers::described(),
        media::described(),
        tokens::described(),
        people::described(),
        audit_log::described(),
    ]
    .concat()
}

#[derive(Tags)]
enum Tag {
    /// The tenants.
    Teams,
    /// How much the teams that subscribe to them may use.
    Plans,
    /// Which plan a team has, and how it stands with it.
    Subscriptions,
    /// How much of their plans teams have used.
    Usage,
    /// The applications that submit media.
    Sites,
    /// What applications submit with.
    #[oai(rename = "Site keys")]
    SiteKeys,
    /// What submissions are judged by.
    #[oai(rename = "Rule groups")]
    RuleGroups,
    /// Rules tried over what was judged before.
    Backtests,
    /// Known images, by their hashes.
    #[oai(rename = "Hash lists")]
    HashLists,
    /// Where events go, what signs them, and what became of them.
    Webhooks,
    /// Who scores texts.
    Providers,
    /// What applications submitted, and what became of it.
    Media,
    /// Who may use this interface, and for what.
    Tokens,
    /// Who signs in, what they may do, and where they are signed in.
    People,
    /// Who changed what.
    #[oai(rename = "Audit log")]
    AuditLog,
}
