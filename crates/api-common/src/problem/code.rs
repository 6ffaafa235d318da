//! The codes of problems, and the only place where status codes are chosen.

use domain::submission::Fault;
use management::{Conflict, FieldFault, Forbidden};
use poem::http::StatusCode;

/// Makes [`Code`] from a table: its name, its name in problem documents, its status.
macro_rules! codes {
    ($($code:ident $name:literal $status:ident,)+) => {
        /// Why a request was refused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $(#[doc = concat!("`", $name, "`.")] $code,)+
        }

        impl Code {
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$code),+];

            /// The `code` member.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)+
                }
            }

            /// The status code.
            pub const fn status(self) -> StatusCode {
                match self {
                    $(Self::$code => StatusCode::$status,)+
                }
            }
        }
    };
}

codes! {
    InvalidRequest "invalid_request" BAD_REQUEST,
    EmptySubmission "empty_submission" BAD_REQUEST,
    ConflictingContent "conflicting_content" BAD_REQUEST,
    TextTooLarge "text_too_large" BAD_REQUEST,
    ImageTooLarge "image_too_large" BAD_REQUEST,
    InvalidImage "invalid_image" BAD_REQUEST,
    UnsupportedImage "unsupported_image" BAD_REQUEST,
    UnknownRuleGroup "unknown_rule_group" BAD_REQUEST,
    InvalidApiKey "invalid_api_key" UNAUTHORIZED,
    InvalidToken "invalid_token" UNAUTHORIZED,
    SignInFailed "sign_in_failed" UNAUTHORIZED,
    FactorNotProved "wrong_code" UNAUTHORIZED,
    NoActiveSubscription "no_active_subscription" FORBIDDEN,
    SiteClosed "site_closed" FORBIDDEN,
    QuotaExceeded "quota_exceeded" FORBIDDEN,
    MissingScope "missing_scope" FORBIDDEN,
    OperatorsOnly "operators_only" FORBIDDEN,
    SharedList "shared_list" FORBIDDEN,
    FactorRequired "factor_required" FORBIDDEN,
    FactorSetUpRequired "factor_set_up_required" FORBIDDEN,
    ReauthenticationRequired "reauthentication_required" FORBIDDEN,
    NotFound "not_found" NOT_FOUND,
    MediaNotFound "media_not_found" NOT_FOUND,
    ModelNotFound "model_not_found" NOT_FOUND,
    MethodNotAllowed "method_not_allowed" METHOD_NOT_ALLOWED,
    RequestTimeout "request_timeout" REQUEST_TIMEOUT,
    IdempotencyConflict "idempotency_conflict" CONFLICT,
    NameTaken "name_taken" CONFLICT,
    StillPending "still_pending" CONFLICT,
    AlreadyDecided "already_decided" CONFLICT,
    MediaChanged "media_changed" CONFLICT,
    VerdictChanged "verdict_changed" CONFLICT,
    DraftChanged "draft_changed" CONFLICT,
    RuleGroupInUse "rule_group_in_use" CONFLICT,
    VersionIsLive "version_is_live" CONFLICT,
    BacktestRunning "backtest_running" CONFLICT,
    HashListInUse "hash_list_in_use" CONFLICT,
    AlreadyListed "already_listed" CONFLICT,
    ImageNotHashed "image_not_hashed" CONFLICT,
    ImageNotPreviewed "image_not_previewed" CONFLICT,
    ScanRunning "scan_running" CONFLICT,
    RecoveryRunning "recovery_running" CONFLICT,
    EndpointDisabled "endpoint_disabled" CONFLICT,
    LimitReached "limit_reached" CONFLICT,
    Closing "closing" CONFLICT,
    LegalHold "legal_hold" CONFLICT,
    DeliveryPending "delivery_pending" CONFLICT,
    LastOwner "last_owner" CONFLICT,
    AlreadyMember "already_member" CONFLICT,
    FactorExists "factor_exists" CONFLICT,
    InOtherTeams "in_other_teams" CONFLICT,
    AppealOpen "appeal_open" CONFLICT,
    StillInReview "still_in_review" CONFLICT,
    NeverInReview "never_in_review" CONFLICT,
    ReviewNotYours "review_not_yours" CONFLICT,
    ReviewDecided "review_decided" CONFLICT,
    ReviewUndecided "review_undecided" CONFLICT,
    ReviewTold "review_told" CONFLICT,
    ReviewEscalated "review_escalated" CONFLICT,
    BulkDecisionRunning "bulk_decision_running" CONFLICT,
    MoreReviewsMatch "more_reviews_match" CONFLICT,
    PayloadTooLarge "payload_too_large" PAYLOAD_TOO_LARGE,
    UnsupportedMediaType "unsupported_media_type" UNSUPPORTED_MEDIA_TYPE,
    HeadTooLarge "head_too_large" REQUEST_HEADER_FIELDS_TOO_LARGE,
    RateLimited "rate_limited" TOO_MANY_REQUESTS,
    TooManyPings "too_many_pings" TOO_MANY_REQUESTS,
    TooManyDownloads "too_many_downloads" TOO_MANY_REQUESTS,
    TooManyTries "too_many_tries" TOO_MANY_REQUESTS,
    InternalError "internal_error" INTERNAL_SERVER_ERROR,
    NotChecked "not_checked" SERVICE_UNAVAILABLE,
    Overloaded "overloaded" SERVICE_UNAVAILABLE,
    PreviewTimedOut "preview_timed_out" SERVICE_UNAVAILABLE,
    DarkroomUnavailable "darkroom_unavailable" SERVICE_UNAVAILABLE,
    NotReady "not_ready" SERVICE_UNAVAILABLE,
}

impl Code {
    /// How the client can authenticate, if that would help: the header `WWW-Authenticate`.
    pub const fn challenge(self) -> Option<&'static str> {
        match self {
            Self::InvalidToken => Some("Bearer"),
            _ => None,
        }
    }

    /// Whether the same request can succeed later. The answer then says when, in `Retry-After`.
    pub const fn is_passing(self) -> bool {
        // What was not checked will not be checked by the same request.
        !matches!(self, Self::NotChecked)
            && matches!(
                self.status(),
                StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
            )
    }
}

impl From<Fault> for Code {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::InvalidField => Self::InvalidRequest,
            Fault::EmptySubmission => Self::EmptySubmission,
            Fault::ConflictingContent => Self::ConflictingContent,
            Fault::TextTooLarge => Self::TextTooLarge,
            Fault::ImageTooLarge => Self::ImageTooLarge,
            Fault::InvalidImage => Self::InvalidImage,
            Fault::UnsupportedImage => Self::UnsupportedImage,
        }
    }
}

impl From<FieldFault> for Code {
    fn from(fault: FieldFault) -> Self {
        match fault {
            FieldFault::Invalid => Self::InvalidRequest,
            FieldFault::UnknownRuleGroup => Self::UnknownRuleGroup,
            FieldFault::Submission(fault) => fault.into(),
        }
    }
}

impl From<Forbidden> for Code {
    fn from(forbidden: Forbidden) -> Self {
        match forbidden {
            Forbidden::MissingScope => Self::MissingScope,
            Forbidden::OperatorsOnly => Self::OperatorsOnly,
            Forbidden::SharedList => Self::SharedList,
            Forbidden::FactorRequired => Self::FactorRequired,
            Forbidden::FactorSetUpRequired => Self::FactorSetUpRequired,
            Forbidden::ReauthenticationRequired => Self::ReauthenticationRequired,
        }
    }
}

impl From<Conflict> for Code {
    fn from(conflict: Conflict) -> Self {
        match conflict {
            Conflict::StillPending => Self::StillPending,
            Conflict::AlreadyDecided => Self::AlreadyDecided,
            Conflict::MediaChanged => Self::MediaChanged,
            Conflict::VerdictChanged => Self::VerdictChanged,
            Conflict::DraftChanged => Self::DraftChanged,
            Conflict::RuleGroupInUse => Self::RuleGroupInUse,
            Conflict::VersionIsLive => Self::VersionIsLive,
            Conflict::HashListInUse => Self::HashListInUse,
            Conflict::AlreadyListed => Self::AlreadyListed,
            Conflict::ImageNotHashed => Self::ImageNotHashed,
            Conflict::ImageNotPreviewed => Self::ImageNotPreviewed,
            Conflict::EndpointDisabled => Self::EndpointDisabled,
            Conflict::DeliveryPending => Self::DeliveryPending,
            Conflict::BacktestRunning => Self::BacktestRunning,
            Conflict::ScanRunning => Self::ScanRunning,
            Conflict::RecoveryRunning => Self::RecoveryRunning,
            Conflict::AppealOpen => Self::AppealOpen,
            Conflict::StillInReview => Self::StillInReview,
            Conflict::NeverInReview => Self::NeverInReview,
            Conflict::ReviewNotYours => Self::ReviewNotYours,
            Conflict::ReviewDecided => Self::ReviewDecided,
            Conflict::ReviewUndecided => Self::ReviewUndecided,
            Conflict::ReviewTold => Self::ReviewTold,
            Conflict::ReviewEscalated => Self::ReviewEscalated,
            Conflict::BulkDecisionRunning => Self::BulkDecisionRunning,
            Conflict::MoreReviewsMatch => Self::MoreReviewsMatch,
            Conflict::NameTaken => Self::NameTaken,
            Conflict::LimitReached => Self::LimitReached,
            Conflict::Closing => Self::Closing,
            Conflict::LegalHold => Self::LegalHold,
            Conflict::LastOwner => Self::LastOwner,
            Conflict::AlreadyMember => Self::AlreadyMember,
            Conflict::FactorExists => Self::FactorExists,
            Conflict::InOtherTeams => Self::InOtherTeams,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_errors_has_every_code_with_its_status() {
        let page = include_str!("../../../../docs/errors.md");
        for code in Code::ALL {
            let row = format!("| `{}` | {} |", code.as_str(), code.status().as_u16());
            assert!(page.contains(&row), "{row}");
        }
    }
}
