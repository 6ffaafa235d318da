//! The jobs of Gatehouse: their queues' names, which are part of the stored data and never change,
//! and what they carry.

mod chains;
mod media;
mod removals;
mod reviews;
mod subject;
mod webhooks;

use queue::QueueName;

pub use self::{
    chains::{
        BacktestJob, BulkJob, ClosureJob, ErasureJob, HashImportJob, HashScanJob, RecoveryJob,
        StatisticsJob,
    },
    media::{Marks, MediaJob},
    removals::RemovalJob,
    reviews::ReviewJob,
    subject::subject,
    webhooks::{DeliveryJob, TURNS, Turn},
};
pub(crate) use self::{
    chains::{add_up, close, decide_next, erase, import, recover, replay, scan},
    media::{analyse, begin, judge, tell_and_begin},
    removals::remove,
    reviews::end_review,
    webhooks::{Pages, deliver},
};

/// An item's image is fetched, decoded and hashed. Lane: the team.
pub const IMAGES: QueueName = QueueName::new("images");

/// Providers look at an item. Lane: the team.
pub const ANALYSIS: QueueName = QueueName::new("analysis");

/// The rules judge an item. Lane: the team.
pub const RULES: QueueName = QueueName::new("rules");

/// Events go to an endpoint. Lane: the endpoint. Group: its team.
pub const WEBHOOKS: QueueName = QueueName::new("webhooks");

/// Rules are replayed over a slice of what was judged before. Lane: the team.
pub const BACKTESTS: QueueName = QueueName::new("backtests");

/// A file of hashes is read into a list. Lane: the list's team; that of a shared list: the list.
pub const HASH_IMPORTS: QueueName = QueueName::new("hash-imports");

/// A list is compared with stored pictures. Lane: the team whose items they are; for all teams: the
/// list.
pub const HASH_SCANS: QueueName = QueueName::new("hash-scans");

/// Deliveries that an endpoint has missed or lost are sent, slice by slice. Lane: the team.
pub const RECOVERIES: QueueName = QueueName::new("recoveries");

/// What happened is added up for statistics. One lane for the whole installation.
pub const STATISTICS: QueueName = QueueName::new("statistics");

/// What people decide on the review desk is told, when the time to undo it is over. Lane: the team.
pub const REVIEWS: QueueName = QueueName::new("reviews");

/// One decision about many reviews is held for each of them, slice by slice. Lane: the team.
pub const BULK_DECISIONS: QueueName = QueueName::new("bulk-decisions");

/// Everything that is stored about some items is removed, slice by slice. Lane: the team.
pub const ERASURES: QueueName = QueueName::new("erasures");

/// Sites and teams are closed, step by step. Lane: the team.
pub const CLOSURES: QueueName = QueueName::new("closures");

/// Items that were judged for one answer only are removed. Lane: the team.
pub const REMOVALS: QueueName = QueueName::new("removals");

/// Every queue. Those of an item's steps come first, in order.
pub const ALL: [QueueName; 14] = [
    IMAGES,
    ANALYSIS,
    RULES,
    WEBHOOKS,
    BACKTESTS,
    HASH_IMPORTS,
    HASH_SCANS,
    RECOVERIES,
    STATISTICS,
    REVIEWS,
    BULK_DECISIONS,
    ERASURES,
    CLOSURES,
    REMOVALS,
];

/// How many jobs of a lane may run at once, over all processes, unless another cap is set. Queues
/// that are not listed have no cap.
pub const LANE_CAPS: [(QueueName, u32); 10] = [
    // With this cap, slow servers of one team delay no other team's images.
    (IMAGES, 16),
    (WEBHOOKS, 32),
    (BACKTESTS, 1),
    (HASH_IMPORTS, 1),
    (HASH_SCANS, 1),
    (RECOVERIES, 1),
    (STATISTICS, 1),
    (BULK_DECISIONS, 1),
    (ERASURES, 1),
    (CLOSURES, 1),
];
