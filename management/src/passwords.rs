//! Hashing passwords with Argon2id: 19 MiB, two passes, one lane, as OWASP recommends.
//!
//! A hash costs memory and tens of milliseconds of processor time, and anyone can cause one by
//! trying to sign in. So at most two run at once, on threads of a low priority. Addresses take
//! turns: an address that keeps trying delays the next address by one hash.

use std::{
    net::IpAddr,
    sync::{Arc, LazyLock},
    time::Duration,
};

use argon2::{
    Algorithm, Argon2, Params, PasswordHasher as _, PasswordVerifier as _, Version,
    password_hash::phc::PasswordHash,
};
use domain::password::{NewPassword, Password};
use shares::{Limit, Shares, client};
use threads::Threads;
use tokio::time::timeout;
use tracing::error;

use crate::Refused;

const KIBIBYTES: u32 = 19 * 1_024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const SALT: usize = 16;

/// How many are hashed at once.
const AT_ONCE: usize = 2;
/// How many addresses can wait, and how many hashes of one address.
const WAITING: usize = 1_000;
/// How long a hash waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// Hashes passwords. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Passwords {
    /// Started when the first password is hashed.
    threads: Arc<LazyLock<Threads>>,
    /// The unit that takes turns: an IPv4 address, or an IPv6 network, because one client has a
    /// whole network of addresses.
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

impl Passwords {
    /// The hash of a new password, as a PHC string.
    ///
    /// # Errors
    /// The address's turn did not come in time.
    pub(crate) async fn hash(
        &self,
        address: IpAddr,
        password: &NewPassword,
    ) -> Result<String, Refused> {
        let password = password.password().clone();
        self.work(address, move || hash(&password)).await?
    }

    /// Whether this password belongs to the stored hash. Without a hash, because there is no such
    /// account, the answer is no and takes as long.
    ///
    /// # Errors
    /// The address's turn did not come in time.
    pub(crate) async fn verify(
        &self,
        address: IpAddr,
        password: Password,
        stored: Option<String>,
    ) -> Result<bool, Refused> {
        self.work(address, move || match stored {
            Some(stored) => verify(&password, &stored),
            None => verify(&password, &DUMMY).map(|_| false),
        })
        .await?
    }

    async fn work<T: Send + 'static>(
        &self,
        address: IpAddr,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refused> {
        let address = client(address);
        let _place = self
            .waiting
            .try_take(address, 1, Limit::Fair)
            .map_err(|_| Refused::Overloaded)?;
        let turn = timeout(PATIENCE, self.turns.take(address, 1, Limit::Fair))
            .await
            .map_err(|_| Refused::Overloaded)?;
        // If the client disconnects, the work still runs to its end and keeps its turn until then.
        let working = self.threads.run(move || {
            let done = work();
            drop(turn);
            done
        });
        working.await.map_err(|_| Refused::Internal)
    }
}

/// A hash that no password has. A password for an account that does not exist is compared with it.
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

    #[tokio::test]
    async fn a_hash_names_its_parameters_and_fits_its_password_only() {
        let passwords = Passwords::default();
        let stored = passwords.hash(HERE, &new("kelp otter violin")).await.ok();
        let stored = stored.unwrap();
        assert!(
            stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{stored}"
        );
        for (text, fits) in [("kelp otter violin", true), ("kelp otter viola", false)] {
            let typed = Password::typed(text).unwrap();
            let verified = passwords.verify(HERE, typed, Some(stored.clone())).await;
            assert_eq!(verified.ok(), Some(fits), "{text}");
        }
        let other = passwords.hash(HERE, &new("kelp otter violin")).await.ok();
        assert_ne!(other.unwrap(), stored, "each has a salt of its own");
    }

    #[tokio::test]
    async fn nobodys_password_fits_an_account_that_does_not_exist() {
        let passwords = Passwords::default();
        let typed = Password::typed("kelp otter violin").unwrap();
        assert_eq!(passwords.verify(HERE, typed, None).await.ok(), Some(false));
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
                passwords.work(HERE, work).await.is_ok()
            }));
        }
        started.recv().await.unwrap();
        let other = IpAddr::from([192, 0, 2, 2]);
        assert_eq!(passwords.work(other, || 7).await.ok(), Some(7));
        drop(release);
        for one in greedy {
            assert!(one.await.unwrap());
        }
    }
}
