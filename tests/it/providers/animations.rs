//! Animations: a single violent frame counts, frames that cannot be examined are reported, and no
//! frame is paid for twice.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::{FakeProvider, Mode, Panel, SOON, Wire, Worker, eventually};

const HOUR: Duration = Duration::from_hours(1);

/// A GIF with this many frames. Those in `violent` are violent.
fn animation(side: u16, frames: usize, violent: &[usize]) -> Vec<u8> {
    let palette = [40, 90, 160, 220, 10, 10];
    let mut file = Vec::new();
    let mut encoder = gif::Encoder::new(&mut file, side, side, &palette).unwrap();
    for number in 0..frames {
        let color = u8::from(violent.contains(&number));
        let pixels = vec![color; usize::from(side) * usize::from(side)];
        let frame = gif::Frame::from_indexed_pixels(side, side, pixels, None);
        encoder.write_frame(&frame).unwrap();
    }
    drop(encoder);
    file
}

fn reason(verdict: &Value) -> &str {
    verdict["moderationResult"]["reason"].as_str().unwrap()
}

#[sqlx::test(migrations = false)]
async fn case_69_a_single_violent_frame_of_an_animation_counts(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Well).await;
    let entries = [provider.entry("openai", "")];
    let mut panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", json!({})).await;
    let mut before = 0;
    for (frames, violent, expected, asked) in [
        (9, &[8][..], "rejected", 5),
        (9, &[4], "rejected", 5),
        (1, &[], "approved", 1),
        (1, &[0], "rejected", 1),
        (2, &[], "approved", 2),
        (2, &[1], "rejected", 2),
        (9, &[], "approved", 5),
        (9, &[0], "rejected", 5),
    ] {
        let file = animation(96, frames, violent);
        let media = panel.submit_image(&key, &file, None).await;
        let verdict = panel.verdict(&key, &media, SOON).await;
        assert_eq!(verdict["status"], expected, "{violent:?}: {verdict}");
        assert_eq!(provider.asked() - before, asked, "{frames}");
        before = provider.asked();
        let said = panel.analysis(&media).await;
        assert_eq!(said["providers"].as_array().unwrap().len(), 1, "{said}");
    }

    // As many frames as the operator allows.
    panel.workers.clear();
    let mut command = panel.gatehouse();
    command.env("GATEHOUSE_ANIMATION_FRAMES", "2");
    let _worker = Worker::launch(command).await;
    let media = panel
        .submit_image(&key, &animation(96, 9, &[4]), None)
        .await;
    let verdict = panel.verdict(&key, &media, SOON).await;
    assert_eq!(verdict["status"], "approved", "{verdict}");
    assert_eq!(provider.asked() - before, 2);
}

#[sqlx::test(migrations = false)]
async fn case_69_an_animation_that_cannot_be_wholly_checked_is_never_approved(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Well).await;
    let entries = [provider.entry("openai", "")];
    let panel = Panel::start(&pool, 0, &entries, HOUR, &["violence"]).await;
    let mut command = panel.gatehouse();
    command.env("GATEHOUSE_ANIMATION_MEGAPIXELS", "10");
    let _worker = Worker::launch(command).await;
    let key = panel.site("site", json!({})).await;
    // 40 of these frames are 10 megapixels.
    let cut = |mut file: Vec<u8>| {
        file.truncate(file.len() - 20);
        file
    };
    let too_large = "Not checked: the image is too large in bytes, pixels or frames.";
    let damaged = "Not checked: the image could not be decoded.";
    for (file, expected, why, asked) in [
        (animation(500, 40, &[]), "approved", None, 5),
        (
            animation(500, 50, &[]),
            "pending_review",
            Some(too_large),
            5,
        ),
        // Its last frame is not examined.
        (
            animation(500, 50, &[49]),
            "pending_review",
            Some(too_large),
            5,
        ),
        // A violent frame that is examined still rejects.
        (animation(500, 50, &[39]), "rejected", Some(too_large), 5),
        (
            cut(animation(96, 4, &[3])),
            "pending_review",
            Some(damaged),
            3,
        ),
        (cut(animation(96, 4, &[2])), "rejected", Some(damaged), 3),
        (
            cut(animation(96, 2, &[])),
            "pending_review",
            Some(damaged),
            1,
        ),
    ] {
        let before = provider.asked();
        let media = panel.submit_image(&key, &file, None).await;
        let verdict = panel.verdict(&key, &media, SOON).await;
        assert_eq!(verdict["status"], expected, "{verdict}");
        assert_eq!(provider.asked() - before, asked, "{verdict}");
        if expected == "pending_review" {
            assert_eq!(Some(reason(&verdict)), why);
        }
    }
}

#[sqlx::test(migrations = false)]
async fn case_69_a_partly_checked_animation_stays_unchecked_while_its_text_waits(pool: PgPool) {
    let vision = FakeProvider::start(Wire::Vision, Mode::Well).await;
    let guard = FakeProvider::start(Wire::LlamaGuard, Mode::Limited("3")).await;
    let entries = [vision.entry("vision", ""), guard.entry("guard", "")];
    let panel = Panel::start(&pool, 1, &entries, HOUR, &["violence"]).await;
    let key = panel.site("site", json!({})).await;
    let mut file = animation(96, 4, &[]);
    file.truncate(file.len() - 20);
    let media = panel.submit_image(&key, &file, Some("a quiet day")).await;
    eventually("the image's part is kept", SOON, async || {
        let parts = sqlx::query_scalar("select count(*) from analysis_image_parts");
        let parts: i64 = parts.fetch_one(&pool).await.unwrap();
        (parts == 1).then_some(())
    })
    .await;
    guard.answer(Mode::Well);
    let verdict = panel.verdict(&key, &media, SOON).await;
    assert_eq!(verdict["status"], "pending_review", "{verdict}");
    assert_eq!(
        reason(&verdict),
        "Not checked: the image could not be decoded."
    );
    assert_eq!(vision.asked(), 3);
}

#[sqlx::test(migrations = false)]
async fn case_69_frames_that_were_answered_are_not_asked_for_again(pool: PgPool) {
    let provider = FakeProvider::openai(Mode::Fails(6)).await;
    let entries = [provider.entry("openai", "")];
    let panel = Panel::start(&pool, 0, &entries, HOUR, &["violence"]).await;
    let mut command = panel.gatehouse();
    command.env("GATEHOUSE_ANIMATION_FRAMES", "12");
    let _worker = Worker::launch(command).await;
    let key = panel.site("site", json!({})).await;
    // The same provider scores its text, in separate pieces.
    let text = FakeProvider::VIOLENT.to_owned() + " at the gate. ";
    let media = panel
        .submit_image(&key, &animation(96, 30, &[29]), Some(&text))
        .await;
    eventually("some frames are answered", SOON, async || {
        (provider.answered() == 6).then_some(())
    })
    .await;
    eventually("they are kept", SOON, async || {
        let kept =
            sqlx::query_scalar("select count(*) from analysis_pieces where modality = 'image'");
        let kept: i64 = kept.fetch_one(&pool).await.unwrap();
        (kept >= 5).then_some(())
    })
    .await;
    provider.answer(Mode::Well);
    let verdict = panel.verdict(&key, &media, SOON).await;
    assert_eq!(verdict["status"], "rejected", "{verdict}");
    assert_eq!(provider.answered(), 13, "the text, and each frame once");
    let kept = sqlx::query_scalar("select count(*) from analysis_pieces");
    let kept: i64 = kept.fetch_one(&pool).await.unwrap();
    assert_eq!(kept, 0, "the analysis replaces them");
}
