//! Files that are taken, and mistakes.

use super::*;

fn parsed(text: &str) -> anyhow::Result<Providers> {
    parse(text, Path::new("/nowhere"))
}

#[test]
fn providers_are_set_up_in_the_order_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["key", "policy"] {
        fs::write(directory.path().join(name), format!("{name}-text\n")).unwrap();
    }
    let text = r#"
        [[provider]]
        name = "guard"
        kind = "chat"
        style = "llama_guard"
        url = "http://vllm:8000"
        model = "meta-llama/Llama-Guard-3-8B"

        [[provider]]
        name = "house"
        kind = "chat"
        style = "policy"
        policy_file = "policy"
        url = "http://vllm:8001/openai"
        model = "openai/gpt-oss-safeguard-20b"
        categories = ["spam", "hate"]
        key_file = "key"
        deadline_seconds = 45

        [[provider]]
        name = "own"
        kind = "http"
        url = "https://scorer.internal/score?v=1"
        categories = ["illicit"]
        key_file = "key"
        auth = "hmac"

        [[provider]]
        name = "openai"
        kind = "openai"
        key_file = "key"

        [[provider]]
        name = "words"
        kind = "builtin"
        categories = ["spam"]
    "#;
    let providers = parse(text, directory.path()).unwrap();
    let seen: Vec<_> = providers
        .iter()
        .map(|p| (p.name(), p.kind(), p.categories().len()))
        .collect();
    assert_eq!(
        seen,
        [
            ("guard", "chat/llama_guard", 6),
            ("house", "chat/policy", 2),
            ("own", "http", 1),
            ("openai", "openai", 7),
            ("words", "builtin", 1),
        ]
    );
    assert_eq!(providers[1].categories(), [Category::Hate, Category::Spam]);
}

#[test]
fn what_cannot_be_meant_is_refused_in_one_line() {
    let http = "[[provider]]\nname = \"a\"\nkind = \"http\"\nurl = \"http://h/\"\ncategories = [\"spam\"]\n";
    let chat = "[[provider]]\nname = \"a\"\nkind = \"chat\"\nurl = \"http://h/\"\nmodel = \"m\"\n";
    for (text, word) in [
        (String::new(), "no [[provider]]"),
        ("providers = 1".into(), "line 1: unknown field `providers`"),
        (
            format!("{http}timeout = 3"),
            "line 6: unknown field `timeout`",
        ),
        (format!("{http}kind = \"x\""), "duplicate key"),
        (format!("{http}{http}"), "two with the name a"),
        (http.replace("\"a\"", "\"A b\""), "is no name"),
        (
            http.replace("\"http\"", "\"smtp\""),
            "unknown variant `smtp`",
        ),
        (http.replace("http://h/", "ftp://h/"), "not http or https"),
        (http.replace("http://h/", "http://u:p@h/"), "has a user"),
        (
            http.replace("\"spam\"", "\"gore\""),
            "unknown variant `gore`",
        ),
        (http.replace("[\"spam\"]", "[]"), "categories are none"),
        (
            format!("{http}model = \"m\""),
            "a: its kind has no member model",
        ),
        (
            format!("{http}deadline_seconds = 46"),
            "deadline_seconds is not from 1 to 45",
        ),
        (
            format!("{http}key_env = \"GATEHOUSE_NO_SUCH_VARIABLE\""),
            "GATEHOUSE_NO_SUCH_VARIABLE",
        ),
        (
            format!("{http}key_file = \"no-such-file\""),
            "cannot read /nowhere/no-such-file",
        ),
        (format!("{http}auth = \"hmac\""), "auth and no key"),
        (chat.to_owned(), "its style"),
        (format!("{chat}style = \"policy\""), "a policy_file"),
        (
            format!("{chat}style = \"llama_guard\"\ncategories = [\"spam\"]"),
            "cannot score spam",
        ),
        (
            "[[provider]]\nname = \"a\"\nkind = \"openai\"".into(),
            "a: it needs its key",
        ),
        (
            "[[provider]]\nname = \"a\"\nkind = \"builtin\"\nurl = \"http://h/\"".into(),
            "no member url",
        ),
    ] {
        let Err(error) = parsed(&text) else {
            panic!("{text} is taken");
        };
        let told = format!("{error:#}");
        assert!(
            told.contains(word) && !told.contains('\n'),
            "{told}\n{text}"
        );
    }
}
