//! Name resolution that refuses forbidden addresses at the moment of connecting.

use std::{net::SocketAddr, sync::Arc};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::policy::EgressPolicy;

/// The operating system's resolver.
pub(super) struct SystemDns;

impl Resolve for SystemDns {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let answers = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(Box::new(answers.collect::<Vec<_>>().into_iter()) as Addrs)
        })
    }
}

/// Passes on the answers of another resolver only when all of them are permitted.
///
/// The connector dials exactly the addresses judged here, so a name that changes its mind gains nothing. One bad address
/// among good ones refuses them all: which one is dialled would otherwise be the name's owner's choice.
pub(super) struct GuardedDns {
    pub(super) policy: Arc<EgressPolicy>,
    /// A resolver is asked for names only; this is the port that its client connects to.
    pub(super) port: u16,
    pub(super) inner: Arc<dyn Resolve>,
}

impl Resolve for GuardedDns {
    fn resolve(&self, name: Name) -> Resolving {
        let (policy, port) = (Arc::clone(&self.policy), self.port);
        let answers = self.inner.resolve(name);
        Box::pin(async move {
            let mut judged = Vec::new();
            for answer in answers.await? {
                policy.judge(answer.ip(), port)?;
                judged.push(SocketAddr::new(answer.ip(), port));
            }
            Ok(Box::new(judged.into_iter()) as Addrs)
        })
    }
}
