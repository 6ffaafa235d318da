//! The neutral errors of lower crates as refusals of the interface.

use domain::submission::FieldError;
use http_server::BodyFault;
use management::{Fields, Refused};
use store::Trouble;
use telemetry::failed;
use tracing::error;

use super::{Code, FIELDS, FieldProblem, Refusal};

/// Queries that failed because of the database, of the whole process. When they succeed again, no
/// request is answered with 503 any more, which has a line of its own.
static TROUBLE: Trouble = Trouble::at_once();

impl From<Vec<FieldError>> for Refusal {
    /// The first mistake decides the code.
    fn from(errors: Vec<FieldError>) -> Self {
        let code = errors
            .first()
            .map_or(Code::InvalidRequest, |error| error.fault.into());
        let errors = errors.into_iter().map(|e| FieldProblem {
            field: e.field.into_owned(),
            message: e.message,
            position: None,
        });
        Self::fields(code, errors.collect())
    }
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        let detail = refused.to_string();
        match refused {
            Refused::Unauthenticated => Self::invalid_token(),
            Refused::Forbidden(why, detail) => Self::new(why.into(), detail),
            Refused::NotFound(_) | Refused::NoImage(_) => Self::new(Code::NotFound, detail),
            Refused::Fields(fields) => fields.into(),
            Refused::Invalid(detail) => Self::invalid_request(detail),
            Refused::Conflict(what, detail) => Self::new(what.into(), detail),
            Refused::RateLimited { seconds, .. } => Self {
                wait: Some(seconds),
                ..Self::new(Code::RateLimited, detail)
            },
            Refused::TooManyPings { seconds } => Self {
                wait: Some(seconds),
                ..Self::new(Code::TooManyPings, detail)
            },
            Refused::TooManyDownloads { seconds } => Self {
                wait: Some(seconds),
                ..Self::new(Code::TooManyDownloads, detail)
            },
            Refused::SignInFailed => Self::new(Code::SignInFailed, detail),
            Refused::WrongCode => Self::new(Code::FactorNotProved, detail),
            Refused::TooManyTries { seconds } => Self {
                wait: Some(seconds),
                ..Self::new(Code::TooManyTries, detail)
            },
            Refused::PreviewTimedOut => Self::new(Code::PreviewTimedOut, detail),
            Refused::PreviewsUnavailable => Self::new(Code::DarkroomUnavailable, detail),
            Refused::Overloaded => Self::overloaded(),
            Refused::Store(error) => error.into(),
            Refused::Internal => Self::internal(),
        }
    }
}

impl From<Fields> for Refusal {
    fn from(fields: Fields) -> Self {
        let problems = fields.problems.into_iter().map(|problem| FieldProblem {
            field: problem.field,
            message: problem.message,
            position: problem.position,
        });
        let mut refusal = Self::fields(fields.fault.into(), problems.collect());
        if let Some(most) = fields.cut_at {
            refusal.detail = format!("{FIELDS} Only the first {most} mistakes are listed.").into();
        }
        refusal
    }
}

impl From<store::Error> for Refusal {
    fn from(error: store::Error) -> Self {
        match error {
            error @ store::Error::Sql(_) if error.is_outage() => {
                failed!(TROUBLE.failed(&error), %error, "a database query failed");
                Self::unavailable()
            }
            store::Error::Overloaded => Self::overloaded(),
            store::Error::Unavailable => Self::unavailable(),
            store::Error::Sql(error) => {
                error!(%error, "a database query failed");
                Self::unavailable()
            }
            store::Error::Unreadable(error) => {
                error!(%error, "a stored value cannot be read");
                Self::internal()
            }
            // None of these stays an error of the store.
            error @ (store::Error::NameTaken
            | store::Error::UnknownPlan
            | store::Error::LimitReached(_)
            | store::Error::TooManyDeleted(_)) => Refused::from(error).into(),
        }
    }
}

impl From<BodyFault> for Refusal {
    fn from(fault: BodyFault) -> Self {
        let code = match fault {
            BodyFault::TooLarge(_) => Code::PayloadTooLarge,
            BodyFault::Encoded => Code::UnsupportedMediaType,
            BodyFault::TooSlow => Code::RequestTimeout,
            BodyFault::Broken => Code::InvalidRequest,
            BodyFault::NoRoom => Code::Overloaded,
        };
        Self::new(code, fault.to_string())
    }
}
