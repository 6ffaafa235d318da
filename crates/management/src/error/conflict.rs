//! Why a change conflicts with the present state.

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
