//! Arguments that make no sense.

use sqlx::PgPool;

use super::running::Gatehouse;

const NIL: &str = "00000000-0000-0000-0000-000000000000";

#[sqlx::test(migrations = false)]
async fn what_cannot_be_meant_is_refused_in_one_line(pool: PgPool) {
    let gatehouse = Gatehouse::on(&pool);
    for (arguments, expected) in [
        (
            &["jobs", "--queue", "mails"][..],
            "[possible values: images, analysis, rules,",
        ),
        (&["dead", "--lane", "7"], "a lane is a UUID"),
        (&["dead", "--group", "7"], "a group is a UUID"),
        (
            &["pause", "--queue", "rules", "--group", NIL, "--lane", NIL],
            "cannot be used with",
        ),
        (&["dead", "--id", "x"], "a whole number from 1"),
        (&["pause", "--queue", "rules", "--for", "5"], "5s, 10m"),
        (&["replay"], "--all"),
        (&["replay", "--error", ""], "a value is required"),
    ] {
        let output = gatehouse.run(&[&["queue"], arguments].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
        assert!(output.stdout.is_empty());
    }
    let nowhere = Gatehouse {
        url: "postgres://nobody:nothing@127.0.0.1:1/none".to_owned(),
    };
    let output = nowhere.run(&["queue", "status"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("the database cannot be used"), "{error}");
    assert!(error.contains("Connection refused"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}
