//! Hashing passwords with Argon2id: 19 MiB, two passes, one lane, as OWASP recommends.
//!
//! A hash costs memory and tens of milliseconds of CPU time, and every stranger can cause one. So
//! two are computed at once, on threads of a low priority. Addresses take turns: an address that
//! keeps trying delays each other address by one hash.

use std::{
    net::IpAddr,
    sync::{Arc, LazyLock},
    time::Duration,
};

use argon2::{
    Algorithm, Argon2, Params, PasswordHasher as _, PasswordVerifier as _, Version,
    password_hash::phc::PasswordHash,
};
use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use cpu_pool::Threads;
use domain::password::{NewPassword, Password};
use fair_share::{Limit, Share, Shares, client};
use tokio::time::timeout;
use tracing::error;

use crate::Refused;

const KIBIBYTES: u32 = 19 * 1_024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const SALT: usize = 16;

/// How many hashes are computed at once.
const AT_ONCE: usize = 2;
/// How many hashes may wait. One address has at most as many as remain free.
const WAITING: usize = 1_000;
/// How long a hash waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// Hashes passwords. Clones share threads and turns.
#[derive(Clone, Debug)]
pub struct Passwords {
    /// Started when the first password is hashed.
    threads: Arc<LazyLock<Threads>>,
    /// By address. For IPv6, by network, because one client has a whole network of addresses.
    turns: Arc<Shares<IpAddr>>,
    waiting: Arc<Shares<IpAddr>>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            threads: Arc::new(LazyLock::new(|| Threads::start("passwords", AT_ONCE))),
            turns: Shares::new(AT_ONCE),
            waiting: Shares::new(WAITING),
        }
    }
}

/// The place of one hash among those that wait for a turn.
pub(crate) struct Place {
    address: IpAddr,
    _share: Share<IpAddr>,
}

impl Passwords {
    /// Takes a place for a hash that an address asks for.
    ///
    /// # Errors
    /// Too many hashes wait.
    pub(crate) fn place(&self, address: IpAddr) -> Result<Place, Refused> {
        let address = client(address);
        let share = self.waiting.try_take(address, 1, Limit::Fair);
        Ok(Place {
            address,
            _share: share.map_err(|_| Refused::Overloaded)?,
        })
    }

    /// The hash of a new password to store, as a PHC string.
    ///
    /// # Errors
    /// It is not the address's turn in time.
    pub(crate) async fn hash(
        &self,
        place: Place,
        password: NewPassword,
    ) -> Result<String, Refused> {
        self.work(place, move || hash(password.password())).await?
    }

    /// Whether this is the password behind a stored hash. If there is none, because there is no
    /// such account, the answer is no after the same work.
    ///
    /// # Errors
    /// It is not the address's turn in time.
    pub(crate) async fn verify(
        &self,
        place: Place,
        password: Password,
        stored: Option<String>,
    ) -> Result<bool, Refused> {
        self.work(place, move || {
            // Computed for known accounts, too. Otherwise the first unknown one would take longer.
            let dummy = LazyLock::force(&DUMMY);
            match stored {
                Some(stored) => verify(&password, &stored),
                None => verify(&password, dummy).map(|_| false),
            }
        })
        .await?
    }

    async fn work<T: Send + 'static>(
        &self,
        place: Place,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refused> {
        let turn = timeout(PATIENCE, self.turns.take(place.address, 1, Limit::Fair))
            .await
            .map_err(|_| Refused::Overloaded)?;
        // If the client goes away, the work continues, and keeps its turn until it has ended.
        let working = self.threads.run(move || {
            let done = work();
            drop(turn);
            done
        });
        working.await.map_err(|_| Refused::Internal)
    }
}

/// A hash for an account without a password. It is one of random bytes, so no password has it; comparing a password with it
/// takes as long as with any other.
pub(crate) fn of_nobody() -> String {
    let (salt, hash): ([u8; SALT], [u8; 32]) = (rand::random(), rand::random());
    let encoded = |bytes: &[u8]| STANDARD_NO_PAD.encode(bytes);
    format!(
        "$argon2id$v=19$m={KIBIBYTES},t={PASSES},p={LANES}${}${}",
        encoded(&salt),
        encoded(&hash)
    )
}

/// The hash of no password. Passwords for unknown accounts are compared with it.
static DUMMY: LazyLock<String> = LazyLock::new(|| {
    let random: [u8; 32] = rand::random();
    let hash = argon2().hash_password_with_salt(&random, &random[..SALT]);
    hash.map(|hash| hash.to_string()).unwrap_or_default()
});

fn argon2() -> Argon2<'static> {
    let params =
        Params::new(KIBIBYTES, PASSES, LANES, None).expect("they are within Argon2's bounds");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

fn hash(password: &Password) -> Result<String, Refused> {
    let salt: [u8; SALT] = rand::random();
    let hash = argon2().hash_password_with_salt(password.expose(), &salt);
    let hash = hash.map_err(|error| failed(&error))?;
    Ok(hash.to_string())
}

fn verify(password: &Password, stored: &str) -> Result<bool, Refused> {
    use argon2::password_hash::Error;

    let stored = PasswordHash::new(stored).map_err(|error| failed(&error.into()))?;
    match argon2().verify_password(password.expose(), &stored) {
        Ok(()) => Ok(true),
        Err(Error::PasswordInvalid) => Ok(false),
        Err(error) => Err(failed(&error)),
    }
}

fn failed(error: &argon2::password_hash::Error) -> Refused {
    error!(%error, "a password could not be hashed or compared");
    Refused::Internal
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    fn new(text: &str) -> NewPassword {
        NewPassword::choose(text, &"ada@example.com".parse().unwrap()).unwrap()
    }

    async fn hashed(passwords: &Passwords) -> String {
        let place = passwords.place(HERE).unwrap();
        let hashed = passwords.hash(place, new("kelp otter violin")).await;
        hashed.unwrap()
    }

    #[tokio::test]
    async fn a_hash_names_its_parameters_and_fits_its_password_only() {
        let passwords = Passwords::default();
        let stored = hashed(&passwords).await;
        assert!(
            stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{stored}"
        );
        for (text, fits) in [("kelp otter violin", true), ("kelp otter viola", false)] {
            let typed = Password::typed(text).unwrap();
            let verified = passwords
                .verify(passwords.place(HERE).unwrap(), typed, Some(stored.clone()))
                .await;
            assert_eq!(verified.ok(), Some(fits), "{text}");
        }
        assert_ne!(hashed(&passwords).await, stored, "each has its own salt");
    }

    #[tokio::test]
    async fn nobodys_password_fits_an_account_that_does_not_exist() {
        let passwords = Passwords::default();
        let typed = Password::typed("kelp otter violin").unwrap();
        let place = passwords.place(HERE).unwrap();
        assert_eq!(passwords.verify(place, typed, None).await.ok(), Some(false));
        assert!(DUMMY.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
    }

    #[tokio::test]
    async fn an_address_that_keeps_trying_leaves_a_thread_to_the_others() {
        let passwords = Passwords::default();
        let (begun, mut started) = tokio::sync::mpsc::unbounded_channel();
        let (release, hold) = std::sync::mpsc::channel::<()>();
        let hold = Arc::new(std::sync::Mutex::new(hold));
        let mut greedy = Vec::new();
        for _ in 0..20 {
            let (passwords, begun, hold) = (passwords.clone(), begun.clone(), Arc::clone(&hold));
            greedy.push(tokio::spawn(async move {
                let work = move || {
                    let _ = begun.send(());
                    let _ = hold.lock().unwrap().recv();
                };
                passwords
                    .work(passwords.place(HERE).unwrap(), work)
                    .await
                    .is_ok()
            }));
        }
        started.recv().await.unwrap();
        let other = IpAddr::from([192, 0, 2, 2]);
        let place = passwords.place(other).unwrap();
        assert_eq!(passwords.work(place, || 7).await.ok(), Some(7));
        drop(release);
        for one in greedy {
            assert!(one.await.unwrap());
        }
    }
}
