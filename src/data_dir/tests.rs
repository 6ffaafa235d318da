//! A directory that other users could change, and one that nobody else can.

use std::os::unix::fs::MetadataExt as _;

use super::*;
use crate::system_account::SystemAccount;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_second_process_is_refused_in_one_line_that_names_the_first() {
    let temporary = tempfile::tempdir().unwrap();
    let first = DataDir::open(&temporary.path().join("data")).unwrap();
    let refused = format!("{:#}", DataDir::open(first.path()).unwrap_err());
    assert!(
        refused.contains(&format!("(process {})", process::id())),
        "{refused}"
    );
    assert!(
        refused.contains("--data-dir") && !refused.contains('\n'),
        "{refused}"
    );
    let path = first.path().to_path_buf();
    drop(first);
    DataDir::open(&path).unwrap();
}

#[test]
fn secrets_are_readable_by_their_owner_only() {
    let temporary = tempfile::tempdir().unwrap();
    let data = DataDir::open(&temporary.path().join("data")).unwrap();
    data.write("secret", b"first", Audience::Owner).unwrap();
    data.write("secret", b"second", Audience::Owner).unwrap();
    data.write("public", b"", Audience::Everyone).unwrap();
    assert_eq!(fs::read(data.join("secret")).unwrap(), b"second");
    assert_eq!(
        (mode(&data.join("secret")), mode(&data.join("public"))),
        (0o600, 0o644)
    );
}

#[test]
fn a_file_in_the_way_is_refused_with_advice() {
    let temporary = tempfile::NamedTempFile::new().unwrap();
    let refused = format!("{:#}", DataDir::open(temporary.path()).unwrap_err());
    assert!(
        refused.contains("--data-dir") && !refused.contains('\n'),
        "{refused}"
    );
}

fn refusal(path: &Path) -> String {
    let line = format!("{:#}", DataDir::open(path).unwrap_err());
    assert!(!line.contains('\n'), "{line}");
    line
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn case_43_a_directory_that_others_may_write_to_is_refused_with_advice() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("data");
    drop(DataDir::open(&path).unwrap());
    assert_eq!((mode(&path), mode(&path.join("lock"))), (0o700, 0o600));
    for open in [0o770, 0o707, 0o777, 0o1777] {
        set_mode(&path, open);
        let line = refusal(&path);
        assert!(
            line.contains("chmod go-w") && line.contains("--data-dir"),
            "{line}"
        );
    }
    // The owner can allow others to read.
    set_mode(&path, 0o755);
    DataDir::open(&path).unwrap();
}

#[test]
fn case_43_a_file_that_others_may_write_to_is_refused_with_advice() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("data");
    drop(DataDir::open(&path).unwrap());
    for name in ["master.key", "demo.json", "postgres.local.conf", "lock"] {
        let file = path.join(name);
        fs::write(&file, "").unwrap();
        set_mode(&file, 0o666);
        let line = refusal(&path);
        assert!(line.contains("chmod go-w") && line.contains(name), "{line}");
        set_mode(&file, 0o600);
        drop(DataDir::open(&path).unwrap());
    }
}

#[test]
fn case_43_a_directory_that_others_could_replace_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("data");
    drop(DataDir::open(&path).unwrap());
    set_mode(temporary.path(), 0o777);
    let line = refusal(&path);
    assert!(line.contains("could replace the data directory"), "{line}");
    // As in /tmp: nobody can rename what belongs to others.
    set_mode(temporary.path(), 0o1777);
    DataDir::open(&path).unwrap();
}

#[test]
fn case_43_the_lock_of_an_earlier_version_is_closed_to_others() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("data");
    drop(DataDir::open(&path).unwrap());
    set_mode(&path.join("lock"), 0o644);
    let _data = DataDir::open(&path).unwrap();
    assert_eq!(mode(&path.join("lock")), 0o600);
}

#[test]
fn case_43_a_lock_that_is_a_link_is_not_followed() {
    let temporary = tempfile::tempdir().unwrap();
    let (path, elsewhere) = (
        temporary.path().join("data"),
        temporary.path().join("elsewhere"),
    );
    fs::create_dir(&path).unwrap();
    set_mode(&path, 0o700);
    fs::write(&elsewhere, "untouched").unwrap();
    std::os::unix::fs::symlink(&elsewhere, path.join("lock")).unwrap();
    refusal(&path);
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "untouched");
}

/// Only root can create files of other users, so these tests check nothing if another user runs
/// them.
#[test]
fn case_43_what_belongs_to_somebody_else_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("data");
    drop(DataDir::open(&path).unwrap());
    let give = |path: &Path, uid| std::os::unix::fs::chown(path, Some(uid), None).unwrap();
    give(&path, 54_321);
    assert!(refusal(&path).contains("chown -R"));
    give(&path, 0);
    give(&path.join("lock"), 54_321);
    assert!(refusal(&path).contains("chown -R"));
    give(&path.join("lock"), 0);
    give(temporary.path(), 54_321);
    assert!(refusal(&path).contains("could replace the data directory"));
}

#[test]
fn case_43_root_gives_an_account_only_what_is_new_or_empty() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let account = SystemAccount::for_root(crate::system_account::DEFAULT)
        .expect("`scripts/setup test` makes it");
    let uid = account.uid().as_raw();
    let temporary = tempfile::tempdir().unwrap();
    set_mode(temporary.path(), 0o711);
    let owner = |path: &Path| fs::symlink_metadata(path).unwrap().uid();

    let new = create_as_root(&temporary.path().join("a/new"), &account).unwrap();
    assert_eq!((owner(&new), mode(&new)), (uid, 0o700));
    create_as_root(&new, &account).unwrap();

    let empty = temporary.path().join("empty");
    fs::create_dir(&empty).unwrap();
    create_as_root(&empty, &account).unwrap();
    assert_eq!((owner(&empty), mode(&empty)), (uid, 0o700));

    // A directory of an earlier version: it belongs to root and has files.
    let old = temporary.path().join("old");
    fs::create_dir(&old).unwrap();
    fs::write(old.join("master.key"), "").unwrap();
    let line = format!("{:#}", create_as_root(&old, &account).unwrap_err());
    assert!(
        line.contains(&format!("chown -R gatehouse: {}", old.display())) && !line.contains('\n'),
        "{line}"
    );
    assert_eq!((owner(&old), owner(&old.join("master.key"))), (0, 0));

    // Another user who owns a directory above it could replace it meanwhile.
    let strangers = temporary.path().join("strangers");
    fs::create_dir(&strangers).unwrap();
    std::os::unix::fs::chown(&strangers, Some(54_321), None).unwrap();
    let line = format!(
        "{:#}",
        create_as_root(&strangers.join("data"), &account).unwrap_err()
    );
    assert!(line.contains("could replace the data directory"), "{line}");
    assert!(!strangers.join("data").exists());
}
