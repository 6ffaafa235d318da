//! Until every use case is in the crate `management`: what those that are still here need of it.

use domain::scope::Scope;

pub(super) use super::caller::Caller;
use ::management::Refused;
pub(super) use ::management::{Change, Session, created, difference};

use crate::problem::Refusal;

pub(super) fn missing_scope(scope: Scope) -> Refusal {
    Refused::missing_scope(scope).into()
}
