//! Files that are taken, and mistakes.

use domain::score::Category;

use super::*;

fn parsed(text: &str) -> anyhow::Result<Providers> {
    let surroundings = Surroundings {
        directory: Path::new("/nowhere"),
        proxy: None,
    };
    parse(text, &surroundings)
}

/// Every kind of provider.
const FILE: &str = r#"
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
    name = "eyes"
    kind = "http"
    url = "https://scorer.internal/look"
    modalities = ["image"]
    categories = ["spam"]

    [[provider]]
    name = "openai"
    kind = "openai"
    key_file = "key"

    [[provider]]
    name = "hateful"
    kind = "openai"
    key_file = "key"
    categories = ["hate"]

    [[provider]]
    name = "words"
    kind = "builtin"
    categories = ["spam"]

    [[provider]]
    name = "azure"
    kind = "azure"
    url = "https://us.cognitiveservices.azure.com/"
    key_file = "key"
    categories = ["adult", "hate"]

    [[provider]]
    name = "azure-images"
    kind = "azure"
    url = "https://us.cognitiveservices.azure.com/"
    key_file = "key"
    modalities = ["image"]

    [[provider]]
    name = "vision"
    kind = "vision"
    key_file = "key"

    [[provider]]
    name = "aws"
    kind = "rekognition"
    region = "eu-west-1"
    key_id = "AKIDEXAMPLE"
    key_file = "key"

    [[provider]]
    name = "sight"
    kind = "sightengine"
    key_id = "1234"
    key_file = "key"
    categories = ["self_harm"]
"#;

#[test]
fn providers_are_set_up_in_the_order_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["key", "policy"] {
        fs::write(directory.path().join(name), format!("{name}-text\n")).unwrap();
    }
    let surroundings = Surroundings {
        directory: directory.path(),
        proxy: None,
    };
    let providers = parse(FILE, &surroundings).unwrap();
    let seen: Vec<_> = providers
        .iter()
        .map(|p| p.profile())
        .map(|p| {
            (
                p.name.as_str(),
                p.kind,
                p.scope.text.len(),
                p.scope.image.len(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("guard", "chat/llama_guard", 6, 0),
            ("house", "chat/policy", 2, 0),
            ("own", "http", 1, 0),
            ("eyes", "http", 0, 1),
            ("openai", "openai", 7, 3),
            ("hateful", "openai", 1, 0),
            ("words", "builtin", 1, 0),
            ("azure", "azure", 2, 2),
            ("azure-images", "azure", 0, 4),
            ("vision", "vision", 0, 2),
            ("aws", "rekognition", 0, 4),
            ("sight", "sightengine", 0, 1),
        ]
    );
    assert_eq!(
        providers[1].profile().scope.text,
        [Category::Hate, Category::Spam]
    );
}

#[test]
fn what_cannot_be_meant_is_refused_in_one_line() {
    let http = "[[provider]]\nname = \"a\"\nkind = \"http\"\nurl = \"http://h/\"\ncategories = [\"spam\"]\n";
    for (text, word) in [
        (String::new(), "no [[provider]]"),
        ("providers = 1".into(), "line 1: unknown field `providers`"),
        (
            format!("{http}timeout = 3"),
            "line 6: unknown field `timeout`",
        ),
        (
            format!("{http}concurency = 3"),
            "line 6: unknown field `concurency`: did you mean `concurrency`?",
        ),
        (
            http.replace("[[provider]]", "[[providers]]"),
            "line 1: unknown field `providers`: did you mean `provider`?",
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
        (http.replace("[\"spam\"]", "[]"), "categories are empty"),
        (
            format!("{http}model = \"m\""),
            "a: its kind has no member model",
        ),
        (
            format!("{http}deadline_seconds = 46"),
            "deadline_seconds must be from 1 to 45",
        ),
        (
            format!("{http}key_env = \"GATEHOUSE_NO_SUCH_VARIABLE\""),
            "GATEHOUSE_NO_SUCH_VARIABLE",
        ),
        (
            format!("{http}key_file = \"no-such-file\""),
            "cannot read its key_file /nowhere/no-such-file",
        ),
        (format!("{http}auth = \"hmac\""), "auth but no key"),
        (format!("{http}modalities = []"), "its modalities are empty"),
        (
            format!("{http}modalities = [\"sound\"]"),
            "unknown variant `sound`",
        ),
    ] {
        assert_refused(&text, word);
    }
}

#[test]
fn what_a_kind_of_provider_cannot_do_is_refused_in_one_line() {
    let chat = "[[provider]]\nname = \"a\"\nkind = \"chat\"\nurl = \"http://h/\"\nmodel = \"m\"\n";
    let azure =
        "[[provider]]\nname = \"a\"\nkind = \"azure\"\nurl = \"http://h/\"\nkey_env = \"PATH\"\n";
    let aws = "[[provider]]\nname = \"a\"\nkind = \"rekognition\"\nregion = \"eu-west-1\"\nkey_id = \"AK\"\n";
    for (text, word) in [
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
        (
            format!("{chat}style = \"llama_guard\"\nmodalities = [\"image\"]"),
            "cannot score anything in its modality image",
        ),
        (
            "[[provider]]\nname = \"a\"\nkind = \"azure\"\nurl = \"http://h/\"".into(),
            "a: it needs its key",
        ),
        (format!("{azure}piece_bytes = 10_001"), "from 1000 to 10000"),
        (
            format!("{azure}categories = [\"harassment\"]"),
            "cannot score harassment",
        ),
        (
            azure.replace("url = \"http://h/\"\n", ""),
            "it needs its url",
        ),
        (
            "[[provider]]\nname = \"a\"\nkind = \"vision\"\npiece_bytes = 1_000".into(),
            "no member piece_bytes",
        ),
        (aws.replace("region = \"eu-west-1\"\n", ""), "its region"),
        (aws.replace("eu-west-1", "h/?x="), "its region must"),
        (
            aws.replace("key_id = \"AK\"\n", ""),
            "its key_id with key_env or key_file, or credentials = \"role\"",
        ),
        (aws.to_owned(), "a: it needs its key, in"),
    ] {
        assert_refused(&text, word);
    }
}

#[test]
fn the_variables_that_a_file_names_are_known() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("providers.toml");
    let text = "[[provider]]\nkey_env = \"ONE\"\nname = \"a\"\n[[provider]]\nproxy_password_env = \"TWO\"\nkey_env = 3\n";
    fs::write(&file, text).unwrap();
    assert_eq!(variables(&file), ["ONE", "TWO"]);
    fs::write(&file, "[[provider]").unwrap();
    assert_eq!(variables(&file), Vec::<String>::new());
    assert_eq!(variables(Path::new("/nowhere")), Vec::<String>::new());
}

#[test]
fn the_version_of_a_guardrail_is_a_number_or_draft() {
    let of = |version: &str| {
        format!(
            "[[provider]]\nname = \"a\"\nkind = \"bedrock_guardrail\"\nregion = \"eu-west-1\"\nkey_id = \"AK\"\n\
             key_env = \"PATH\"\nguardrail = \"gr1\"\nguardrail_version = {version:?}"
        )
    };
    for version in ["1", "20", "DRAFT"] {
        assert!(parsed(&of(version)).is_ok(), "{version}");
    }
    for version in ["", "0", "01", "+1", "draft", "DRAFT 1", "1/apply"] {
        let told = format!("{:#}", parsed(&of(version)).err().unwrap());
        assert!(told.contains("must be a number or DRAFT"), "{told}");
    }
}

#[test]
fn wrong_ways_to_a_provider_are_refused_in_one_line() {
    let http = "[[provider]]\nname = \"a\"\nkind = \"http\"\nurl = \"http://h/\"\ncategories = [\"spam\"]\n";
    let chat = "[[provider]]\nname = \"a\"\nkind = \"chat\"\nurl = \"http://h/\"\nmodel = \"m\"\n";
    let aws = "[[provider]]\nname = \"a\"\nkind = \"rekognition\"\nregion = \"eu-west-1\"\nkey_id = \"AK\"\n";
    for (text, word) in [
        (
            format!("{aws}credentials = \"role\""),
            "credentials = \"role\" and a key; give only one",
        ),
        (
            format!("{aws}key_env = \"PATH\"\nsession_token_file = \"none\""),
            "cannot read its session_token_file /nowhere/none",
        ),
        (
            format!("{http}credentials = \"role\""),
            "no member credentials",
        ),
        (
            format!("{http}proxy = \"proxy:3128\""),
            "its proxy is not a URL such as",
        ),
        (
            format!("{http}proxy = \"http://u:p@proxy:3128\""),
            "put it into proxy_password_env or proxy_password_file",
        ),
        (
            format!("{http}proxy_password_env = \"PATH\""),
            "proxy_password but no proxy",
        ),
        (
            "[[provider]]\nname = \"a\"\nkind = \"openai\"\nkey_env = \"PATH\"\n\
             url = \"http://h/v1/moderations\""
                .to_owned(),
            "write http://h",
        ),
        (
            format!("{chat}style = \"llama_guard\"")
                .replace("\"m\"", "\"meta-llama/Meta-Llama-Guard-2-8B\""),
            "its model is Llama Guard 2",
        ),
    ] {
        assert_refused(&text, word);
    }
}

fn assert_refused(text: &str, word: &str) {
    let Err(error) = parsed(text) else {
        panic!("{text} is taken");
    };
    let told = format!("{error:#}");
    assert!(
        told.contains(word) && !told.contains('\n'),
        "{told}\n{text}"
    );
}

#[test]
fn every_mistake_is_told_at_once() {
    let text = r#"
        [[provider]]
        name = "One"
        kind = "builtin"

        [[provider]]
        name = "own"
        kind = "http"
        categories = ["illicit"]

        [[provider]]
        name = "own"
        kind = "builtin"
    "#;
    let told = format!("{:#}", parsed(text).err().unwrap());
    for mistake in [
        "\"One\" is no name",
        "own: it needs its url",
        "two with the name own",
    ] {
        assert!(told.contains(mistake), "{told}");
    }
}
