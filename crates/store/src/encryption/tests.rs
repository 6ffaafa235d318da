//! What opens, for whom, and with which key.

use super::*;

#[test]
fn a_sealed_secret_opens_for_its_owner_only() {
    let key = MasterKey::new([1; 32]);
    let sealed = key.seal("site:a", b"secret");
    assert_eq!(key.open("site:a", &sealed).unwrap(), b"secret");
    assert_eq!(key.open("site:b", &sealed), Err(OpenError::Damaged));
}

#[test]
fn an_older_key_opens_and_does_not_seal() {
    let old = MasterKey::new([1; 32]);
    let both = MasterKey::new([2; 32]).replacing([1; 32]);
    assert_eq!(
        both.open("a", &old.seal("a", b"secret")).unwrap(),
        b"secret"
    );
    assert_eq!(
        old.open("a", &both.seal("a", b"secret")),
        Err(OpenError::OtherKey)
    );
}

#[test]
fn a_wrong_key_and_a_changed_byte_are_told_apart() {
    let sealed = MasterKey::new([1; 32]).seal("a", b"secret");
    assert_eq!(
        MasterKey::new([2; 32]).open("a", &sealed),
        Err(OpenError::OtherKey)
    );
    let mut changed = sealed.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(
        MasterKey::new([1; 32]).open("a", &changed),
        Err(OpenError::Damaged)
    );
    assert_eq!(
        MasterKey::new([1; 32]).open("a", &sealed[..10]),
        Err(OpenError::Damaged)
    );
}
