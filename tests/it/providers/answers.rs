//! Every provider with every fault of a server, with one request each. The result is an error, no
//! score, or the right score. The content is always violent, so a low score would be wrong.

use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::breaker::BreakerSettings;
use domain::image::ImageFormat;
use domain::score::Category;
use futures::StreamExt as _;
use futures::stream;
use picture::Rendition;
use tokio::time::sleep;
use workers::provider::{
    AnswerFormat, Auth, AwsAccess, AwsKey, Azure, Chat, ChatSettings, Content, Guardrail,
    GuardrailId, Hive, Http, Mistral, MostTokens, NaturalLanguage, OpenAi, Provider, Question,
    Rekognition, Remote, Scope, Sightengine, Style, Vision,
};

use crate::support::{FakeProvider, Fault, Mode, RIGHT, UNSCORED, Wire, eventually, memory_so_far};

/// The deadline of a connection, of the arrival of a request, and of an answer to a request that has
/// arrived. None takes that long on a busy machine.
const DEADLINE: Duration = Duration::from_mins(3);
/// The deadline of an answer that may come too late.
const LATE: Duration = Duration::from_secs(8);
/// Requests that run at the same time.
const AT_ONCE: usize = 40;
/// The additional memory that all requests together may take.
const MEMORY: u64 = 400 << 20;

const TEXT: &str = "a quiet afternoon, and then flurbicide";

/// The content that a provider gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Text,
    Image,
}

fn remote(fake: &FakeProvider, auth: Auth, shown: Shown) -> Remote {
    let (text, image) = match shown {
        Shown::Text => (vec![Category::Violence], Vec::new()),
        Shown::Image => (Vec::new(), vec![Category::Violence]),
    };
    Remote {
        name: "mine".into(),
        url: format!("http://{}", fake.address()).parse().unwrap(),
        auth,
        headers: http::HeaderMap::new(),
        scope: Scope { text, image },
        deadline: DEADLINE,
        concurrency: 1,
        breaker: BreakerSettings::default(),
        piece_bytes: 1_000,
        proxy: None,
    }
}

/// The provider for this format. It calls the fake provider with this key.
fn provider(wire: Wire, fake: &FakeProvider, shown: Shown, key: &str) -> Arc<dyn Provider> {
    let key = key.to_owned();
    let aws = AwsAccess::Key(AwsKey {
        id: FakeProvider::KEY_ID.into(),
        secret: key.clone(),
        session_token: None,
    });
    let header = |name: &str| Auth::Header(name.parse().unwrap(), key.clone());
    let policy = || Style::Policy {
        usual: "The policy.".into(),
    };
    let with = |auth| remote(fake, auth, shown);
    let bearer = || with(Auth::Bearer(key.clone()));
    let region = "eu-west-1".to_owned();
    match wire {
        Wire::OpenAi => Arc::new(OpenAi::new(bearer(), "omni".into(), 0.5).unwrap()),
        Wire::LlamaGuard => {
            let settings = ChatSettings::default();
            Arc::new(Chat::new(bearer(), "m".into(), Style::LlamaGuard, settings).unwrap())
        }
        Wire::Policy => {
            let settings = ChatSettings::default();
            Arc::new(Chat::new(bearer(), "m".into(), policy(), settings).unwrap())
        }
        Wire::Judge => {
            let settings = ChatSettings {
                path: "/openai/chat".into(),
                most_tokens: Some(MostTokens::Completion(500)),
                answer_format: AnswerFormat::Object,
                temperature: false,
            };
            let mut remote = with(header("x-api-key"));
            remote.headers.insert("x-version", "2".parse().unwrap());
            Arc::new(Chat::new(remote, "m".into(), policy(), settings).unwrap())
        }
        Wire::Http => Arc::new(Http::new(bearer()).unwrap()),
        Wire::Azure => Arc::new(Azure::new(with(header(Azure::KEY_HEADER))).unwrap()),
        Wire::Vision => Arc::new(Vision::new(with(header(Vision::KEY_HEADER))).unwrap()),
        Wire::NaturalLanguage => {
            let remote = with(header(NaturalLanguage::KEY_HEADER));
            Arc::new(NaturalLanguage::new(remote).unwrap())
        }
        Wire::Mistral => {
            Arc::new(Mistral::new(bearer(), "mistral-moderation-latest".into()).unwrap())
        }
        Wire::Rekognition => Arc::new(Rekognition::new(with(Auth::Nothing), region, aws).unwrap()),
        Wire::Guardrail => {
            let guardrail = GuardrailId {
                id: "gr4tests".into(),
                version: "1".into(),
            };
            Arc::new(Guardrail::new(with(Auth::Nothing), region, aws, &guardrail).unwrap())
        }
        Wire::Hive | Wire::HiveImages => {
            let name = Hive::KEY_HEADER.parse().unwrap();
            let auth = Auth::Header(name, format!("token {key}"));
            Arc::new(Hive::new(with(auth)).unwrap())
        }
        Wire::Sightengine => {
            let user = FakeProvider::KEY_ID.to_owned();
            let languages = Sightengine::LANGUAGES.to_owned();
            let remote = with(Auth::Nothing);
            Arc::new(Sightengine::new(remote, user, key.clone(), languages).unwrap())
        }
    }
}

/// The result of one request (the reason of an error, [`RIGHT`] or [`UNSCORED`]), and its number of
/// calls. The deadline begins when the request has arrived.
async fn ask(
    wire: Wire,
    shown: Shown,
    mode: Mode,
    image: &Rendition,
    deadline: Duration,
) -> (String, usize) {
    let fake = FakeProvider::start(wire, mode).await;
    let provider = provider(wire, &fake, shown, FakeProvider::KEY);
    let too_late = async {
        eventually("the request arrives", DEADLINE, async || {
            (fake.asked() > 0).then_some(())
        })
        .await;
        sleep(deadline).await;
    };
    let question = Question {
        content: match shown {
            Shown::Text => Content::Text(TEXT),
            Shown::Image => Content::Image(image),
        },
        categories: &[Category::Violence],
        policy: None,
        team: None,
    };
    let answer = tokio::select! {
        answer = provider.analyse(question) => Some(answer),
        () = too_late => None,
    };
    let came = match answer {
        None => "timed_out".to_owned(),
        Some(Err(error)) => {
            let told = format!("{error} {error:?}");
            for secret in [FakeProvider::KEY, FakeProvider::VIOLENT, "127.0.0.1"] {
                assert!(!told.contains(secret), "{told}");
            }
            error.reason().to_owned()
        }
        Some(Ok(answer)) => match answer.scores.get(Category::Violence) {
            None => UNSCORED.to_owned(),
            Some(score) if (score - wire.high()).abs() < 1e-9 => RIGHT.to_owned(),
            Some(score) => format!("a score of {score}"),
        },
    };
    if !matches!(mode, Mode::Wrong(Fault::ClosedAtOnce)) {
        assert!(
            !fake.last().is_null(),
            "{wire:?} {mode:?}: not as documented"
        );
    }
    (came, fake.asked())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_a_provider_does_not_know_is_denied_however_it_says_so() {
    let file = FakeProvider::picture(96, 96, image::ImageFormat::Jpeg, true);
    let image = Rendition {
        format: ImageFormat::Jpeg,
        bytes: file.into(),
    };
    let texts = Wire::OF_TEXTS.map(|wire| (wire, Shown::Text, Content::Text(TEXT)));
    let images = Wire::OF_IMAGES.map(|wire| (wire, Shown::Image, Content::Image(&image)));
    for (wire, shown, content) in texts.into_iter().chain(images) {
        let fake = FakeProvider::start(wire, Mode::Well).await;
        let question = Question {
            content,
            categories: &[Category::Violence],
            policy: None,
            team: None,
        };
        let provider = provider(wire, &fake, shown, "sk-of-somebody-else");
        let refused = provider.analyse(question).await;
        let reason = refused.map(|_| ()).map_err(|error| error.reason());
        assert_eq!(reason, Err("denied"), "{wire:?} {shown:?}");
        assert_eq!(fake.answered(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn case_63_no_fault_of_a_server_is_ever_a_score() {
    let file = FakeProvider::picture(96, 96, image::ImageFormat::Jpeg, true);
    let image = Rendition {
        format: ImageFormat::Jpeg,
        bytes: file.into(),
    };
    let texts = Wire::OF_TEXTS.map(|wire| (wire, Shown::Text));
    let images = Wire::OF_IMAGES.map(|wire| (wire, Shown::Image));
    let kinds: Vec<_> = texts.into_iter().chain(images).collect();
    for (wire, shown) in &kinds {
        let came = ask(*wire, *shown, Mode::Well, &image, DEADLINE).await;
        assert_eq!(came, (RIGHT.to_owned(), 1), "{wire:?} {shown:?}");
    }

    let before = memory_so_far();
    let started = Instant::now();
    let cases = kinds.iter().flat_map(|kind| {
        let faults = Fault::all().filter(|(_, fault, _)| fault.is_for(kind.0));
        faults.map(move |fault| (kind, fault))
    });
    let image = &image;
    let asked = stream::iter(cases).map(async |((wire, shown), (name, fault, ends))| {
        let deadline = if ends.contains(&"timed_out") {
            LATE
        } else {
            DEADLINE
        };
        let mode = Mode::Wrong(*fault);
        let (came, requests) = ask(*wire, *shown, mode, image, deadline).await;
        let is_expected = ends.contains(&came.as_str()) && requests == 1;
        (!is_expected).then(|| {
            format!("{wire:?} {shown:?}, {name}: {came} after {requests}, expected {ends:?}")
        })
    });
    let wrong: Vec<_> = asked.buffer_unordered(AT_ONCE).collect().await;
    let count = wrong.len();
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let memory = memory_so_far() - before;
    assert!(memory < MEMORY, "{memory} bytes");
    println!("{count} answers in {:?}, {memory} bytes", started.elapsed());
}
