//! What a caller is not allowed to do.

/// Why a caller is not allowed to do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forbidden {
    /// A scope is missing.
    MissingScope,
    /// Only operators can do it.
    OperatorsOnly,
    /// All teams share it, and only operators can change it.
    SharedList,
    /// The person has a second factor and has not given it in this session.
    FactorRequired,
    /// The person needs a second factor and has none.
    FactorSetUpRequired,
    /// The person must give the password again.
    ReauthenticationRequired,
}
