//! How memory is handed out, and what happens to those who wait for it.

use futures::FutureExt as _;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::*;

fn team(number: usize) -> TeamId {
    Uuid::from_u128(number as u128).into()
}

/// A PNG of 20 million black pixels: some kilobytes that take 80 MB to decode.
fn black() -> Bytes {
    use image::{ExtendedColorType, ImageEncoder as _, codecs::png::PngEncoder};
    let mut file = Vec::new();
    let pixels = vec![0; 5_000 * 4_000];
    PngEncoder::new(&mut file)
        .write_image(&pixels, 5_000, 4_000, ExtendedColorType::L8)
        .unwrap();
    file.into()
}

#[tokio::test]
async fn no_more_pictures_are_decoded_at_once_than_there_is_memory_for() {
    let (decode_pool, file) = (DecodePool::default(), black());
    let memory = Claim::of(&file).unwrap().memory();
    let (arrive, mut arrived) = mpsc::unbounded_channel();
    let developing: Vec<_> = (0..=PIXELS / memory)
        .map(|number| {
            let (decode_pool, file, arrive) = (decode_pool.clone(), file.clone(), arrive.clone());
            tokio::spawn(async move {
                let work = move |picture: &Picture| {
                    let (go, wait) = oneshot::channel();
                    arrive.send(go).unwrap();
                    wait.blocking_recv().unwrap();
                    Ok(picture.rgb().len())
                };
                decode_pool.decode(team(number), file, work).await
            })
        })
        .collect();
    let mut inside = Vec::new();
    for _ in 0..PIXELS / memory {
        inside.push(arrived.recv().await.unwrap());
    }
    let left = PIXELS - decode_pool.pixels.in_use();
    assert!(left < memory, "there is room for one more: {left}");
    assert!(arrived.try_recv().is_err(), "and one more is there");
    // Where one leaves, the next one comes.
    inside.pop().unwrap().send(()).unwrap();
    inside.push(arrived.recv().await.unwrap());
    for go in inside {
        go.send(()).unwrap();
    }
    for developed in developing {
        assert_eq!(developed.await.unwrap(), Ok(5_000 * 4_000 * 3));
    }
}

#[tokio::test]
async fn case_69_animations_of_one_team_leave_room_for_another_team_and_for_still_pictures() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/fixtures/images/animated.gif"
    );
    let (decode_pool, file) = (DecodePool::default(), std::fs::read(path).unwrap());
    let animation = decode_pool.animation(&file).unwrap();
    let place = |number| {
        decode_pool
            .animation_slot(team(number), animation)
            .now_or_never()
    };
    let places: Vec<_> = std::iter::from_fn(|| place(1)).collect();
    assert!((1..AT_ONCE).contains(&places.len()), "{}", places.len());
    assert!(decode_pool.animations.in_use() < ANIMATIONS);
    let other = place(2).expect("there is room for another team");
    assert!(place(1).is_none());
    assert_eq!(decode_pool.pixels.in_use(), 0);

    let limits = Limits {
        bytes: 1 << 20,
        min_side: 1,
        max_side: 2_048,
        formats: &[domain::image::ImageFormat::Jpeg],
    };
    let reel = other.frames(file.into(), limits).await.unwrap();
    assert!(reel.frames.len() > 1);
    drop(places);
    assert_eq!(decode_pool.animations.in_use(), 0);
}

#[tokio::test]
async fn work_that_panics_is_a_picture_that_could_not_be_decoded_and_frees_its_room() {
    let decode_pool = DecodePool::default();
    let answer = decode_pool
        .decode::<()>(team(1), black(), |_| panic!("a test's"))
        .await;
    assert_eq!(answer, Err(ImageProblem::Undecodable));
    assert_eq!(decode_pool.pixels.in_use(), 0);
}

#[tokio::test]
async fn the_pictures_of_one_team_delay_another_team_by_one() {
    let (decode_pool, file) = (DecodePool::default(), black());
    let (arrive, mut arrived) = mpsc::channel(64);
    let decode = |number: usize| {
        let (decode_pool, file, arrive) = (decode_pool.clone(), file.clone(), arrive.clone());
        tokio::spawn(async move {
            let work = move |_: &Picture| {
                let (go, wait) = oneshot::channel();
                arrive.blocking_send((number, go)).unwrap();
                wait.blocking_recv().unwrap();
                Ok(())
            };
            decode_pool.decode(team(number), file, work).await
        })
    };
    let mut developing: Vec<_> = (0..16).map(|_| decode(1)).collect();
    let (_, first) = arrived.recv().await.unwrap();
    developing.push(decode(2));
    let mut inside = vec![first];
    loop {
        let (number, go) = arrived.recv().await.unwrap();
        inside.push(go);
        if number == 2 {
            break;
        }
    }
    assert!(inside.len() < 8, "{} pictures went before", inside.len());
    drop(arrive);
    while let Some(go) = inside.pop() {
        go.send(()).unwrap();
        if let Ok((_, next)) = arrived.try_recv() {
            inside.push(next);
        }
    }
    while let Some((_, go)) = arrived.recv().await {
        go.send(()).unwrap();
    }
    for developed in developing {
        assert_eq!(developed.await.unwrap(), Ok(()));
    }
}
