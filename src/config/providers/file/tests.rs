//! Files that are accepted, and mistakes.

mod refused;

use domain::score::Category;

use super::*;
use refused::{
    assert_refused, every_mistake_is_told_at_once, the_version_of_a_guardrail_is_a_number_or_draft,
    what_cannot_be_meant_is_refused_in_one_line, wrong_ways_to_a_provider_are_refused_in_one_line,
};

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
