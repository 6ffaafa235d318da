//! The second factor: codes of six digits that change every 30 seconds (RFC 6238, SHA-1, as every
//! authenticator app has it), and recovery codes for those who lose theirs.

use std::{fmt, str::FromStr};

use chrono::{DateTime, Utc};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use crate::{id::UserId, key::SecretHash};

/// How many seconds a code is valid.
const STEP: i64 = 30;
const MODULUS: u32 = 1_000_000;
/// Bytes of a secret: the length of a SHA-1 hash (RFC 4226, section 4).
pub const SECRET: usize = 20;

/// A secret that an authenticator app and Gatehouse share.
#[derive(Clone, PartialEq, Eq)]
pub struct TotpSecret(Vec<u8>);

/// A number of periods of 30 seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step(i64);

impl Step {
    /// The step at a time.
    pub fn at(now: DateTime<Utc>) -> Self {
        Self(now.timestamp().div_euclid(STEP))
    }

    /// The stored number.
    pub const fn number(self) -> i64 {
        self.0
    }
}

impl TotpSecret {
    /// Makes a secret from random bytes.
    pub fn generate(random: [u8; SECRET]) -> Self {
        Self(random.to_vec())
    }

    /// From the bytes that were stored.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes, to be sealed.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// In base32, as people type it into an app.
    pub fn base32(&self) -> String {
        base32(&self.0)
    }

    /// What an app reads from a QR code. The issuer and the account are shown beside the code.
    pub fn uri(&self, issuer: &str, account: &str) -> String {
        let [issuer, account] = [issuer, account].map(|text| {
            url::form_urlencoded::byte_serialize(text.as_bytes())
                .collect::<String>()
                .replace('+', "%20")
        });
        format!(
            "otpauth://totp/{issuer}:{account}?secret={}&issuer={issuer}&algorithm=SHA1&digits=6&period=30",
            self.base32()
        )
    }

    /// The step of this code: the present one, the one before or the one after, because clocks
    /// differ. The caller checks whether the step was used before.
    pub fn step_of(&self, code: TotpCode, now: DateTime<Utc>) -> Option<Step> {
        let Step(present) = Step::at(now);
        [present, present - 1, present + 1]
            .into_iter()
            .find(|step| self.code(*step) == code.0)
            .map(Step)
    }

    /// The code of the present step.
    pub fn code_at(&self, now: DateTime<Utc>) -> TotpCode {
        TotpCode(self.code(Step::at(now).0))
    }

    /// RFC 4226, section 5.3.
    fn code(&self, step: i64) -> u32 {
        let mut mac =
            Hmac::<Sha1>::new_from_slice(&self.0).expect("HMAC takes keys of every length");
        mac.update(&step.to_be_bytes());
        let hash = mac.finalize().into_bytes();
        let offset = usize::from(hash[hash.len() - 1] & 0xf);
        let bytes = [
            hash[offset],
            hash[offset + 1],
            hash[offset + 2],
            hash[offset + 3],
        ];
        (u32::from_be_bytes(bytes) & 0x7fff_ffff) % MODULUS
    }
}

impl fmt::Debug for TotpSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TotpSecret(redacted)")
    }
}

/// A code of six digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TotpCode(u32);

impl fmt::Display for TotpCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:06}", self.0)
    }
}

/// The typed text is neither six digits nor a recovery code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the six digits that your app shows, or a recovery code")]
pub struct MalformedCode;

/// What a person types as the second factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactorCode {
    /// The six digits that an app shows.
    Totp(TotpCode),
    /// A recovery code.
    Recovery(RecoveryCode),
}

impl FromStr for FactorCode {
    type Err = MalformedCode;

    /// Spaces do not matter: apps show codes in groups.
    fn from_str(text: &str) -> Result<Self, MalformedCode> {
        if text.len() > 100 {
            return Err(MalformedCode);
        }
        let plain: String = text
            .chars()
            .filter(|c| !c.is_whitespace() && *c != '-')
            .collect();
        if plain.len() == 6 && plain.bytes().all(|byte| byte.is_ascii_digit()) {
            return plain
                .parse()
                .map(|digits| Self::Totp(TotpCode(digits)))
                .map_err(|_| MalformedCode);
        }
        RecoveryCode::parse(&plain).map(Self::Recovery)
    }
}

/// Random bytes of a recovery code: 80 bits, so that its hash may be a fast one.
pub const RECOVERY: usize = 10;
/// How many recovery codes a person gets.
pub const RECOVERY_CODES: usize = 10;

/// A code that replaces the second factor once.
#[derive(Clone, PartialEq, Eq)]
pub struct RecoveryCode(String);

impl RecoveryCode {
    /// Makes a code from random bytes.
    pub fn generate(random: [u8; RECOVERY]) -> Self {
        Self(base32(&random).to_ascii_lowercase())
    }

    fn parse(plain: &str) -> Result<Self, MalformedCode> {
        let lower = plain.to_ascii_lowercase();
        let known = |byte: u8| ALPHABET.contains(&byte.to_ascii_uppercase());
        if lower.len() == RECOVERY * 8 / 5 && lower.bytes().all(known) {
            Ok(Self(lower))
        } else {
            Err(MalformedCode)
        }
    }

    /// The code in groups of four, to show to its owner once.
    pub fn expose(&self) -> String {
        let groups: Vec<&str> = (0..self.0.len())
            .step_by(4)
            .filter_map(|start| self.0.get(start..start + 4))
            .collect();
        groups.join("-")
    }

    /// What is stored. The hash includes the person, so equal codes of two people have different
    /// hashes.
    pub fn hash(&self, user: UserId) -> SecretHash {
        let hash: [u8; 32] = Sha256::new()
            .chain_update(user.as_uuid().as_bytes())
            .chain_update(&self.0)
            .finalize()
            .into();
        hash.into()
    }
}

impl fmt::Debug for RecoveryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecoveryCode(redacted)")
    }
}

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// RFC 4648 without padding, for lengths that are a multiple of 5 bytes.
fn base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(5) * 8);
    for chunk in bytes.chunks(5) {
        let mut group = [0; 8];
        group[3..3 + chunk.len()].copy_from_slice(chunk);
        let bits = u64::from_be_bytes(group);
        for place in (0..8).rev() {
            let index = usize::try_from((bits >> (5 * place)) & 31).unwrap_or_default();
            text.push(char::from(ALPHABET[index]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(seconds, 0).unwrap()
    }

    /// The vectors of RFC 6238, appendix B, with the last six of their eight digits.
    #[test]
    fn codes_are_those_of_the_standard() {
        let secret = TotpSecret::from_bytes(b"12345678901234567890".to_vec());
        for (time, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(secret.code_at(at(time)).to_string(), code);
        }
    }

    #[test]
    fn a_clock_may_be_one_step_off_and_no_more() {
        let secret = TotpSecret::generate([7; SECRET]);
        let now = at(1_000_000_000);
        for (drift, accepted) in [
            (-60, false),
            (-30, true),
            (0, true),
            (30, true),
            (60, false),
        ] {
            let other = now + chrono::TimeDelta::seconds(drift);
            let step = secret.step_of(secret.code_at(other), now);
            assert_eq!(step, accepted.then(|| Step::at(other)), "{drift}");
        }
    }

    #[test]
    fn base32_is_that_of_the_standard() {
        assert_eq!(base32(b"fooba"), "MZXW6YTB");
        let secret = TotpSecret::from_bytes(b"12345678901234567890".to_vec());
        assert_eq!(secret.base32(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        assert_eq!(
            secret.uri("Gate house", "ada@example.com"),
            "otpauth://totp/Gate%20house:ada%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Gate%20house\
             &algorithm=SHA1&digits=6&period=30"
        );
    }

    #[test]
    fn codes_are_read_as_people_type_them() {
        let code = |text: &str| text.parse::<FactorCode>();
        assert_eq!(code("012 345"), Ok(FactorCode::Totp(TotpCode(12_345))));
        let recovery = RecoveryCode::generate([0xa7; RECOVERY]);
        let shown = recovery.expose();
        assert_eq!(shown.len(), 19);
        for text in [shown.clone(), shown.to_uppercase(), shown.replace('-', " ")] {
            assert_eq!(code(&text), Ok(FactorCode::Recovery(recovery.clone())));
        }
        for text in [
            "",
            "12345",
            "1234567",
            "12345a",
            &shown[1..],
            "0000-0000-0000-0000",
        ] {
            assert_eq!(code(text), Err(MalformedCode), "{text:?}");
        }
    }

    #[test]
    fn the_hash_of_a_code_depends_on_whose_it_is() {
        let code = RecoveryCode::generate([1; RECOVERY]);
        let [one, other] = [1, 2].map(|n| code.hash(Uuid::from_u128(n).into()));
        assert_ne!(one, other);
    }
}
