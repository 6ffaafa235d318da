use std::io::Cursor;

use image::{ImageFormat as Format, Rgb, RgbImage};

use super::*;

fn all() -> Scope {
    Scope {
        text: Builtin::TEXT.to_vec(),
        image: Builtin::IMAGE.to_vec(),
    }
}

async fn ask(builtin: &Builtin, content: Content<'_>, team: Option<TeamId>) -> Scores {
    answer(builtin, content, team).await.scores
}

async fn answer(builtin: &Builtin, content: Content<'_>, team: Option<TeamId>) -> Answer {
    let question = Question {
        content,
        categories: &[],
        policy: None,
        team,
    };
    builtin.analyse(question).await.unwrap()
}

#[tokio::test]
async fn a_long_text_is_scored_like_a_short_one() {
    let builtin = Builtin::new("builtin".into(), all(), None);
    let sentence = "I am going to kill you, you worthless idiot. ";
    let long = sentence.repeat(1 + SHORT / sentence.len());
    let (short, long) = (
        ask(&builtin, Content::Text(sentence), None).await,
        ask(&builtin, Content::Text(&long), None).await,
    );
    for scores in [short, long] {
        assert_eq!(scores.iter().count(), Builtin::TEXT.len());
        assert!(scores.get(Category::Violence).unwrap() > 0.8);
    }
}

#[tokio::test]
async fn the_answer_to_a_text_in_another_language_says_why_it_has_no_scores() {
    let builtin = Builtin::new("builtin".into(), all(), None);
    let unread = answer(&builtin, Content::Text("Ich komme morgen um acht"), None).await;
    assert!(unread.scores.is_empty(), "{unread:?}");
    assert_eq!(unread.raw.as_deref(), Some(UNREAD));
    let read = answer(
        &builtin,
        Content::Text("I will come tomorrow at eight"),
        None,
    )
    .await;
    assert_eq!(read.raw, None);
}

#[tokio::test]
async fn an_image_gets_a_score_for_nudity_only() {
    let picture = RgbImage::from_fn(640, 480, |x, y| {
        let shade = u8::try_from((x + y) % 64).unwrap();
        Rgb([90 + shade, 140, 200 - shade])
    });
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, Format::Png).unwrap();
    let picture = Picture::decode(file.get_ref()).unwrap();
    let rendition = picture.rendition(&IMAGES).unwrap();
    let builtin = Builtin::new("builtin".into(), all(), None);
    let scores = ask(&builtin, Content::Image(&rendition), None).await;
    assert_eq!(scores.iter().count(), 1);
    assert!(scores.get(Category::Adult).unwrap() < 0.5);
}

#[tokio::test]
async fn only_the_configured_categories_are_told() {
    let scope = Scope {
        text: vec![Category::Hate],
        image: Vec::new(),
    };
    let builtin = Builtin::new("builtin".into(), scope, None);
    assert!(builtin.profile().limits.is_none(), "it takes no images");
    let scores = ask(&builtin, Content::Text("hello there"), None).await;
    let told: Vec<Category> = scores.iter().map(|(category, _)| category).collect();
    assert_eq!(told, [Category::Hate]);
}

/// One team's long texts wait for each other, and not another team's.
#[tokio::test]
async fn a_team_with_many_long_texts_leaves_a_turn_to_others() {
    let builtin = Arc::new(Builtin::new("builtin".into(), all(), None));
    let long = "a quiet afternoon in the garden ".repeat(400);
    let (busy, other) = (
        TeamId::from(uuid::Uuid::from_u128(1)),
        TeamId::from(uuid::Uuid::from_u128(2)),
    );
    let queued: Vec<_> = (0..24)
        .map(|_| {
            let (builtin, long) = (Arc::clone(&builtin), long.clone());
            tokio::spawn(async move { ask(&builtin, Content::Text(&long), Some(busy)).await })
        })
        .collect();
    tokio::task::yield_now().await;
    ask(&builtin, Content::Text(&long), Some(other)).await;
    let done = queued.iter().filter(|task| task.is_finished()).count();
    assert!(done < 12, "{done} of the busy team's texts went first");
    for task in queued {
        task.await.unwrap();
    }
}

/// The pictures of a folder, through everything that happens to a picture between its file and its score. For the figures in
/// crates/builtin/README.md:
/// `PICTURES=folder cargo test --release -p gatehouse-workers --lib -- --ignored --nocapture pictures_of_a_folder`
#[test]
#[ignore = "it prints figures and tests nothing"]
fn pictures_of_a_folder() {
    let folder = std::env::var("PICTURES").expect("PICTURES names a folder");
    let mut scores = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let rendition = Picture::decode(&std::fs::read(&path).unwrap())
            .and_then(|picture| picture.rendition(&IMAGES));
        match rendition {
            Ok(rendition) => {
                let score = adult(&rendition.bytes).unwrap().get(Category::Adult);
                scores.push((score.unwrap(), path));
            }
            Err(problem) => println!("{}: {problem:?}", path.display()),
        }
    }
    scores.sort_by(|one, other| other.0.total_cmp(&one.0));
    for least in [0.1, 0.2, 0.5, 0.8] {
        let count = scores.iter().filter(|(score, _)| *score >= least).count();
        println!("{count} of {} at {least} or more", scores.len());
    }
    for (score, path) in scores.iter().take(8) {
        println!("{score:.3} {}", path.display());
    }
}
