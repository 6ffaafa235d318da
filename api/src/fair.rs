//! Bounds that no single address can use up: of connections to a listener, and of memory for bodies.
//!
//! An address may hold as much as it leaves free. One that takes all it can gets a half, two get a third each, and so on:
//! whoever comes next finds room. This is the dynamic threshold of shared switch buffers (Choudhury and Hahne,
//! 1998), which needs no setting and, unlike a fixed share, wastes nothing while others ask for little.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, PoisonError},
};

use ipnet::IpNet;

/// Networks of the proxies and load balancers in front. Each of their addresses stands for many clients, so it is bounded
/// only by what there is in all.
#[derive(Clone, Debug, Default)]
pub struct Proxies(Arc<[IpNet]>);

impl Proxies {
    /// From networks; a single address is one of full length.
    pub fn new(networks: impl IntoIterator<Item = IpNet>) -> Self {
        Self(networks.into_iter().collect())
    }

    /// Whether this is the address of a proxy.
    pub(crate) fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// A capacity that is divided among addresses.
pub(crate) struct Fair {
    capacity: usize,
    proxies: Proxies,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    in_all: usize,
    by_client: HashMap<IpAddr, usize>,
}

/// A part of the capacity; given back when dropped.
pub(crate) struct Share {
    of: Arc<Fair>,
    client: IpAddr,
    amount: usize,
}

/// There is no more for this address now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Spent;

impl Fair {
    pub(crate) fn new(capacity: usize, proxies: Proxies) -> Arc<Self> {
        Arc::new(Self {
            capacity,
            proxies,
            held: Mutex::default(),
        })
    }

    /// An empty share of an address, which can grow.
    pub(crate) fn share(self: &Arc<Self>, address: IpAddr) -> Share {
        Share {
            of: Arc::clone(self),
            client: client(address),
            amount: 0,
        }
    }

    fn take(&self, client: IpAddr, more: usize) -> Result<(), Spent> {
        // Numbers are changed only after all checks, so a panic elsewhere leaves them whole.
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let free = (self.capacity - held.in_all)
            .checked_sub(more)
            .ok_or(Spent)?;
        let had = held.by_client.get(&client).copied().unwrap_or_default();
        let own = had + more;
        // Whoever has nothing may take the last.
        if had > 0 && own > free && !self.proxies.contain(client) {
            return Err(Spent);
        }
        held.in_all += more;
        held.by_client.insert(client, own);
        Ok(())
    }

    fn give_back(&self, client: IpAddr, amount: usize) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.in_all -= amount;
        if let Some(own) = held.by_client.get_mut(&client) {
            *own -= amount;
            if *own == 0 {
                held.by_client.remove(&client);
            }
        }
    }
}

impl Share {
    /// Makes it larger by so much.
    pub(crate) fn grow(&mut self, more: usize) -> Result<(), Spent> {
        self.of.take(self.client, more)?;
        self.amount += more;
        Ok(())
    }

    /// How much it is.
    pub(crate) fn amount(&self) -> usize {
        self.amount
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.amount > 0 {
            self.of.give_back(self.client, self.amount);
        }
    }
}

/// What counts as one client: an IPv4 address, or the 64 bits of an IPv6 address that a provider hands out as a whole.
pub(crate) fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// As many single units as an address can get.
    fn greedy(fair: &Arc<Fair>, from: &str) -> Share {
        let mut share = fair.share(address(from));
        while share.grow(1).is_ok() {}
        share
    }

    #[test]
    fn an_address_leaves_as_much_as_it_takes_and_newcomers_find_room() {
        let fair = Fair::new(1_200, Proxies::default());
        let first = greedy(&fair, "192.0.2.1");
        assert_eq!(first.amount(), 600);
        let second = greedy(&fair, "192.0.2.2");
        assert_eq!(second.amount(), 300);
        // The first may not grow back while the second holds its part, but it keeps what it has.
        assert_eq!(fair.share(address("192.0.2.1")).grow(1), Err(Spent));
        let third = greedy(&fair, "192.0.2.3");
        assert_eq!(third.amount(), 150);
    }

    #[test]
    fn the_last_goes_to_whoever_has_nothing() {
        let fair = Fair::new(2, Proxies::default());
        let _first = greedy(&fair, "192.0.2.1");
        assert_eq!(greedy(&fair, "192.0.2.2").amount(), 1);
    }

    #[test]
    fn what_is_given_back_can_be_taken_again_and_nobody_is_remembered() {
        let fair = Fair::new(10, Proxies::default());
        drop(greedy(&fair, "192.0.2.1"));
        assert_eq!(greedy(&fair, "192.0.2.1").amount(), 5);
        let held = fair.held.lock().unwrap();
        assert_eq!((held.in_all, held.by_client.len()), (0, 0));
    }

    #[test]
    fn a_proxy_may_have_everything() {
        let proxies = Proxies::new(["10.0.0.0/8".parse().unwrap()]);
        let fair = Fair::new(10, proxies);
        assert_eq!(greedy(&fair, "::ffff:10.1.2.3").amount(), 10);
    }

    #[test]
    fn one_ipv6_network_is_one_client() {
        let fair = Fair::new(12, Proxies::default());
        let _share = greedy(&fair, "2001:db8:1:2::1");
        assert_eq!(greedy(&fair, "2001:db8:1:2:ffff::1").amount(), 0);
        assert_eq!(greedy(&fair, "2001:db8:1:3::1").amount(), 3);
    }
}
