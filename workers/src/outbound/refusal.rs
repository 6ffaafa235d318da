//! Why an address that a tenant chose is refused.

/// The reason of a refusal: a closed set, so it can be a metric label.
///
/// Its `Display` form is for the tenant. It distinguishes what the tenant can see in the URL. For
/// all forbidden addresses it is the same, so that it does not help to map the internal network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// Not a URL.
    #[error("this is not a valid URL")]
    Url,
    /// Neither `http` nor `https`.
    #[error("only http and https URLs are contacted")]
    Scheme,
    /// `user:password@` in the URL.
    #[error("a URL with a user name or password is not contacted")]
    UserInfo,
    /// A port that is open neither in general nor for this address.
    #[error("this port is not permitted")]
    Port,
    /// `localhost`, a name below it, or the name of a cloud's metadata service.
    #[error("this address is not permitted")]
    Name,
    /// The machine itself, its "any" addresses included.
    #[error("this address is not permitted")]
    Loopback,
    /// Private, shared (carrier-grade NAT), unique local and site-local networks.
    #[error("this address is not permitted")]
    Private,
    /// The local link.
    #[error("this address is not permitted")]
    LinkLocal,
    /// A cloud's metadata service.
    #[error("this address is not permitted")]
    Metadata,
    /// Multicast and broadcast.
    #[error("this address is not permitted")]
    Multicast,
    /// An IPv6 address with an IPv4 address inside: mapped, compatible, NAT64, 6to4, Teredo, ISATAP.
    #[error("this address is not permitted")]
    Translated,
    /// Documentation, benchmarking, protocol assignments and everything that is not assigned yet.
    #[error("this address is not permitted")]
    Reserved,
}

impl Refusal {
    /// Every reason.
    pub const ALL: [Self; 12] = [
        Self::Url,
        Self::Scheme,
        Self::UserInfo,
        Self::Port,
        Self::Name,
        Self::Loopback,
        Self::Private,
        Self::LinkLocal,
        Self::Metadata,
        Self::Multicast,
        Self::Translated,
        Self::Reserved,
    ];

    /// What the tenant can do about it.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Url => "write it like https://example.com/hooks",
            Self::Scheme => "begin it with https:// or http://",
            Self::UserInfo => "send credentials in a header of its own instead",
            Self::Port => "use 80, 443, 8080 or 8443",
            Self::Name
            | Self::Loopback
            | Self::Private
            | Self::LinkLocal
            | Self::Metadata
            | Self::Multicast
            | Self::Translated
            | Self::Reserved => "use a public one",
        }
    }

    /// The value of the metric label `reason`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Scheme => "scheme",
            Self::UserInfo => "user_info",
            Self::Port => "port",
            Self::Name => "name",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link_local",
            Self::Metadata => "metadata",
            Self::Multicast => "multicast",
            Self::Translated => "translated",
            Self::Reserved => "reserved",
        }
    }
}
