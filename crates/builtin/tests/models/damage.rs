//! Files that are cut, and files with a changed bit.

use builtin::Damaged;

/// Each end of a file but the true one is refused, with a message of one line.
pub(crate) fn refuses_every_cut(file: &[u8], read: impl Fn(&[u8]) -> Result<(), Damaged>) {
    assert_eq!(read(file), Ok(()));
    for end in 0..file.len() {
        let error = read(&file[..end])
            .expect_err("a cut file was read")
            .to_string();
        assert!(!error.contains('\n') && error.len() < 200, "{end}: {error}");
    }
}

/// Changes each bit of the first bytes and then one bit of each byte. Returns how many of these
/// files were read. `read` panics if a model that it read is not sound.
pub(crate) fn survives_every_flip(file: &[u8], read: impl Fn(&[u8]) -> bool) -> usize {
    let mut file = file.to_vec();
    let mut count = 0;
    for at in 0..file.len() {
        for bit in 0..8 {
            if at > 400 && bit != at % 8 {
                continue;
            }
            file[at] ^= 1 << bit;
            count += usize::from(read(&file));
            file[at] ^= 1 << bit;
        }
    }
    count
}
