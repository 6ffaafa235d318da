//! Mistakes are refused in one line.

use std::process::Stdio;

use sqlx::PgPool;

use super::{made, text};
use crate::support::{gatehouse, run};

#[sqlx::test(migrations = false)]
async fn what_cannot_be_is_refused_in_one_line_and_leaves_nothing(pool: PgPool) {
    run(&pool, &["migrate"]);
    run(&pool, &["admin", "create-plan", "--name", "a"]);
    let nobody = "01980f6d-00aa-7bbb-8ccc-0123456789ab";
    for (arguments, told) in [
        (
            &["create-plan", "--name", "a"][..],
            "Another one has this name already",
        ),
        (
            &["create-plan", "--name", ""],
            "must have 1 to 100 characters",
        ),
        (
            &[
                "create-plan",
                "--name",
                "b",
                "--submissions-per-minute",
                "0",
            ],
            "from 1 to 1000000",
        ),
        (
            &["create-team", "--name", "b", "--plan", nobody],
            "--plan: is no plan",
        ),
        (
            &["subscribe", "--team", nobody, "--plan", nobody],
            "There is no such team.",
        ),
        (
            &["create-token", "--name", "b", "--scopes", "teams:paint"],
            "[possible values: all, teams:read,",
        ),
        (
            &[
                "create-token",
                "--name",
                "b",
                "--team",
                nobody,
                "--scopes",
                "all",
            ],
            "--team: is no team",
        ),
    ] {
        let output = gatehouse(&pool)
            .arg("admin")
            .args(arguments)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && error.contains(told),
            "{arguments:?}: {error}"
        );
    }
    let left: i64 = sqlx::query_scalar(
        "select (select count(*) from teams) + (select count(*) from management_tokens)
            + (select count(*) from audit_log)",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    assert_eq!(left, 1, "the one entry of the plan");
}

#[sqlx::test(migrations = false)]
async fn mistakes_in_a_file_of_rules_are_told_with_the_rules_names_and_places(pool: PgPool) {
    run(&pool, &["migrate"]);
    let team = made(&pool, &["create-team", "--name", "a"]);
    let told = |yaml: &str| {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), yaml).unwrap();
        let path = file.path().to_str().unwrap();
        let load = ["load-rules", "--team", text(&team, "team_id"), path];
        let output = gatehouse(&pool)
            .arg("admin")
            .args(load)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let pattern = "name: x
rules:
- {name: broken, type: regex, pattern: '(', effect: reject}
";
    let error = told(pattern);
    assert!(error.contains("rules[0].pattern (`broken`): "), "{error}");

    let several = told(
        "name: x
rules:
- {name: a, type: keyword, keywords: [x], effect: ban}
- {name: b, type: regex, pattern: '(', effect: reject}
- {name: c, type: magic}
",
    );
    for mistake in [
        "rules[0].effect (`a`): must be one of `reject`, `review` (line 3, column 51)",
        "rules[1].pattern (`b`): ",
        "(line 4, column 35)",
        "rules[2].type (`c`): must be one of `keyword`",
    ] {
        assert!(several.contains(mistake), "{mistake}: {several}");
    }
    assert!(told("name: [").contains("the file is not a rule group"));
}
