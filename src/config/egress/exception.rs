//! An exception of the egress guard, as `--egress-allow` takes it.

use std::str::FromStr;

use anyhow::Context as _;
use domain::id::TeamId;
use url::Url;
use workers::outbound::HostPort;

/// One exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allowed {
    /// For this team only. `None`: for all teams.
    pub(super) team: Option<TeamId>,
    pub(super) to: Opened,
}

/// What is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    Host(HostPort),
    Network {
        net: ipnet::IpNet,
        port: Option<u16>,
    },
}

impl FromStr for Allowed {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let Some((team, to)) = text.split_once('=') else {
            let to = text.parse()?;
            return Ok(Self { team: None, to });
        };
        let team = team.parse().with_context(|| {
            format!("{team:?} before the = in {text:?} is not the id of a team")
        })?;
        Ok(Self {
            team: Some(team),
            to: to.parse()?,
        })
    }
}

impl FromStr for Opened {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let wrong = || {
            format!(
                "{text:?} is neither host:port nor a network such as 10.1.0.0/16 or 10.1.0.0/16:9000"
            )
        };
        if let Ok(net) = text.parse() {
            return Ok(Self::Network { net, port: None });
        }
        if let Some((net, port)) = text.rsplit_once(':').filter(|(net, _)| net.contains('/')) {
            let net = net.parse().with_context(wrong)?;
            return Ok(Self::Network {
                net,
                port: Some(port.parse().with_context(wrong)?),
            });
        }
        text.rsplit_once(':')
            .and_then(|(_, port)| port.parse::<u16>().ok())
            .with_context(wrong)?;
        let url: Url = format!("http://{text}/").parse().with_context(wrong)?;
        HostPort::of(&url).map(Self::Host).with_context(wrong)
    }
}
