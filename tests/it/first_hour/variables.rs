//! Wrong variables are named, and `gatehouse check` lists all problems.

use sqlx::PgPool;

use super::printed;
use crate::support::run;

#[test]
fn a_wrong_variable_is_named_and_an_empty_one_counts_as_not_set() {
    let nowhere = "postgres://nobody@127.0.0.1:1/nothing";
    let worker = ["worker", "--database-url", nowhere];
    for (variable, value, told) in [
        ("GATEHOUSE_QUEUES", "rules,x", "[possible values: images,"),
        ("GATEHOUSE_CONCURRENCY", "many", "from 1 to 10000"),
        ("GATEHOUSE_EGRESS_ALLOW", "x", "neither host:port nor"),
        ("GATEHOUSE_LOG_FORMAT", "x", "it must be human or json"),
    ] {
        let (_, error, done) = printed(&[(variable, value)], &worker);
        let is_named = error.contains(variable);
        assert!(
            !done && is_named && error.contains(told),
            "{variable}: {error}"
        );
    }
    // The command line takes precedence, so the error names it.
    let given = [&worker[..], &["--concurrency", "few"]].concat();
    let (_, error, _) = printed(&[("GATEHOUSE_CONCURRENCY", "many")], &given);
    assert!(
        error.contains("'few'") && !error.contains("GATEHOUSE_CONCURRENCY"),
        "{error}"
    );

    let empty = [
        "DATABASE_URL",
        "GATEHOUSE_QUEUES",
        "GATEHOUSE_CONCURRENCY",
        "GATEHOUSE_EGRESS_ALLOW",
        "GATEHOUSE_PROVIDERS",
        "GATEHOUSE_PROVIDERS_FILE",
        "GATEHOUSE_LISTEN",
    ];
    let (_, error, _) = printed(&empty.map(|variable| (variable, "")), &worker);
    let reason = error.lines().last().unwrap();
    assert!(reason.starts_with("error: no master key: set"), "{error}");
}

#[test]
fn check_tells_every_problem_with_its_cause() {
    let wrong = [
        ("GATEHOUSE_CONCURRENCY", "0"),
        ("GATEHOUSE_DATABASE_CONNECTIONS", "1"),
        ("GATEHOUSE_EGRESS_ALLOW", "x"),
        ("GATEHOUSE_LISTEN", "x"),
        ("GATEHOUSE_LOG", "a=b=c"),
        ("GATEHOUSE_LOG_FORMAT", "x"),
        ("GATEHOUSE_MASTER_KEY", "x"),
        ("GATEHOUSE_PROVIDERS_FILE", "/nowhere"),
        ("GATEHOUSE_QUEUES", "x"),
        ("GATEHOUSE_WEBHOOK_SECRET", "x"),
    ];
    let (out, error, done) = printed(&wrong, &["check", "--data-dir", "/nowhere/either"]);
    assert!(!done);
    for (variable, _) in wrong {
        let is_told = error.contains(variable) || variable == "GATEHOUSE_PROVIDERS_FILE";
        assert!(is_told, "{variable}: {error}");
    }
    for cause in [
        "cannot read the providers in /nowhere: No such file or directory",
        "/nowhere/either/postgres.url cannot be read: No such file or directory",
        "must be a whole number from 1 to 10000",
    ] {
        assert!(error.contains(cause), "{cause}: {error}");
    }
    assert_eq!(error.lines().count(), wrong.len() + 1, "{error}");
    assert!(out.contains("egress: "), "{out}");
}

#[sqlx::test(migrations = false)]
async fn check_is_content_where_all_is_in_order(pool: PgPool) {
    run(&pool, &["migrate"]);
    let out = String::from_utf8(run(&pool, &["check"])).unwrap();
    for told in [
        "database: can be written to",
        "master key: opens",
        "providers: builtin",
    ] {
        assert!(out.contains(told), "{out}");
    }
}
