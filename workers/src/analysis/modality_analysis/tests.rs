//! What the analysis of a text or an image finds, and what it leaves unchecked.

use std::sync::Arc;

use domain::{decision::MissingScores, media::OnFailure};
use store::analysis::Analysed;
use uuid::Uuid;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn item(wanted: &[Category], parts: Vec<Part>) -> ToAnalyse {
    ToAnalyse {
        media: Uuid::nil().into(),
        trace: telemetry::trace::Context::of_item([7; 16]),
        team: Uuid::nil().into(),
        site: Uuid::nil().into(),
        text: Some(Arc::from("text")),
        has_picture: false,
        image_matches: Vec::new(),
        group_versions: Vec::new(),
        shadows: Vec::new(),
        on_failure: OnFailure::Review,
        has_image: false,
        image_problem: None,
        rules_are_held: false,
        wanted: wanted.to_vec(),
        preferred: None,
        policy: None,
        answers_hold: None,
        parts,
        pieces: Vec::new(),
        age: Duration::ZERO,
    }
}

fn text(item: &ToAnalyse) -> ModalityAnalysis<'_> {
    ModalityAnalysis::new(item, Modality::Text, false, &[])
}

fn image(item: &ToAnalyse) -> ModalityAnalysis<'_> {
    ModalityAnalysis::new(item, Modality::Image, false, &["narrow"])
}

fn ended(modality_analysis: ModalityAnalysis<'_>) -> Analysed {
    let item = modality_analysis.item;
    ModalityAnalysis::end(item, vec![modality_analysis])
}

fn answer(scores: &[(Category, f64)]) -> Answer {
    Answer {
        scores: scores.iter().copied().collect(),
        ..Answer::default()
    }
}

fn names(unchecked: &[Unchecked]) -> Vec<String> {
    unchecked.iter().map(ToString::to_string).collect()
}

#[test]
fn who_failed_is_unchecked_only_for_what_nobody_else_has_scored() {
    use Category::{Hate, Spam, Violence};
    let item = item(&[Violence, Hate], Vec::new());
    let failed = |also: &[(Category, f64)]| {
        let mut modality_analysis = text(&item);
        modality_analysis.failed("first", &[Violence, Spam], &ProviderError::TimedOut, SECOND);
        modality_analysis.said("second", &[Hate], answer(&[(Hate, 0.1)]), SECOND);
        modality_analysis.said("third", &[], answer(also), SECOND);
        ended(modality_analysis)
    };
    let helped = failed(&[(Violence, 0.2)]);
    assert_eq!(helped.scores.unwrap().get(Violence), Some(0.2));
    assert_eq!(helped.providers[0].failure.as_deref(), Some("timed_out"));
    assert_eq!(helped.unchecked, []);
    let alone = failed(&[]);
    assert_eq!(names(&alone.unchecked), ["the analysis by `first` failed"]);
}

#[test]
fn a_category_that_nobody_can_score_is_absent_and_nothing_more_unless_all_are() {
    use Category::{Spam, Violence};
    let both = item(&[Violence, Spam], Vec::new());
    let mut modality_analysis = text(&both);
    modality_analysis.said("one", &[Violence], answer(&[(Violence, 0.1)]), SECOND);
    assert_eq!(modality_analysis.missing(), [Spam]);
    let analysed = ended(modality_analysis);
    assert_eq!(analysed.scores.unwrap().get(Spam), None);
    assert_eq!(analysed.unchecked, []);

    let spam = item(&[Spam], Vec::new());
    let nobody_asked = ended(text(&spam));
    let mut modality_analysis = text(&spam);
    modality_analysis.said("one", &[Violence], answer(&[(Violence, 0.1)]), SECOND);
    for analysed in [nobody_asked, ended(modality_analysis)] {
        assert_eq!(analysed.unchecked, [Unchecked::TextNotScored]);
    }
}

#[test]
fn what_a_provider_lists_and_leaves_out_is_a_gap_unless_another_scores_it() {
    use Category::{Adult, Spam, Violence};
    let item = item(&[Adult, Violence, Spam], Vec::new());
    let asked = |later: &[(Category, f64)]| {
        let mut modality_analysis = image(&item);
        modality_analysis.said(
            "one",
            &[Adult, Violence],
            answer(&[(Violence, 0.1)]),
            SECOND,
        );
        modality_analysis.said("two", &[Adult], answer(later), SECOND);
        ended(modality_analysis).gaps
    };
    let gap = |unscored: &[Category], left_out: &[Category]| {
        vec![MissingScores {
            modality: Modality::Image,
            unscored: unscored.to_vec(),
            left_out: left_out.to_vec(),
        }]
    };
    assert_eq!(asked(&[]), gap(&[Adult, Spam], &[Adult]));
    assert_eq!(asked(&[(Adult, 0.0)]), gap(&[Spam], &[]));

    // In an earlier run, too.
    let part = Part {
        provider: "one".into(),
        modality: Modality::Image,
        scores: Some([(Violence, 0.1)].into_iter().collect()),
        unseen: None,
    };
    let item = self::item(&[Adult, Violence], vec![part]);
    let mut modality_analysis = image(&item);
    assert!(modality_analysis.has_asked("one", &[Adult, Violence]));
    assert_eq!(ended(modality_analysis).gaps, gap(&[Adult], &[Adult]));
}

#[test]
fn it_waits_for_who_is_back_first_among_those_who_can_score_what_is_missing() {
    use Category::{Hate, Spam, Violence};
    let item = item(&[Violence, Hate], Vec::new());
    let mut modality_analysis = text(&item);
    modality_analysis.paused("useless", &[Spam], SECOND);
    assert_eq!(modality_analysis.wait(), None);
    modality_analysis.paused("late", &[Violence], 9 * SECOND);
    modality_analysis.paused("soon", &[Hate], 5 * SECOND);
    assert_eq!(modality_analysis.wait(), Some(5 * SECOND));
    modality_analysis.said("other", &[Hate], answer(&[(Hate, 0.0)]), SECOND);
    assert_eq!(modality_analysis.wait(), Some(9 * SECOND));
    let analysed = ended(modality_analysis);
    assert_eq!(
        names(&analysed.unchecked),
        ["the analysis by `late` failed"]
    );
}

#[test]
fn what_earlier_runs_found_counts_and_is_not_asked_for_again() {
    use Category::{Hate, Violence};
    let earlier = Part {
        provider: "scored".into(),
        modality: Modality::Text,
        scores: Some([(Violence, 0.9)].into_iter().collect()),
        unseen: None,
    };
    let failed = Part {
        provider: "failed".into(),
        modality: Modality::Text,
        scores: None,
        unseen: None,
    };
    let item = item(&[Violence, Hate], vec![earlier, failed]);
    let mut modality_analysis = text(&item);
    assert_eq!(modality_analysis.missing(), [Hate]);
    assert!(modality_analysis.has_asked("scored", &[Violence]));
    assert!(modality_analysis.has_asked("failed", &[Hate]));
    assert!(!modality_analysis.has_asked("new", &[Hate]));
    assert!(!modality_analysis.is_begun());
    let analysed = ended(modality_analysis);
    assert_eq!(analysed.scores.unwrap().get(Violence), Some(0.9));
    assert!(analysed.providers.is_empty(), "they are kept already");
    assert_eq!(
        names(&analysed.unchecked),
        ["the analysis by `failed` failed"]
    );

    // What was found of the text is nothing about the image.
    let mut modality_analysis = image(&item);
    assert_eq!(modality_analysis.missing(), [Violence, Hate]);
    assert!(!modality_analysis.has_asked("scored", &[Violence]));
}

#[test]
fn the_text_and_the_image_are_kept_apart_and_the_higher_score_counts() {
    use Category::{Hate, Violence};
    let item = item(&[Violence, Hate], Vec::new());
    let mut of_text = text(&item);
    of_text.said(
        "one",
        &[Violence, Hate],
        answer(&[(Violence, 0.1), (Hate, 0.6)]),
        SECOND,
    );
    let mut of_image = image(&item);
    of_image.said("one", &[Violence], answer(&[(Violence, 0.7)]), SECOND);
    assert_eq!(
        (of_text.missing(), of_image.missing()),
        (vec![], vec![Hate])
    );
    let analysed = ModalityAnalysis::end(&item, vec![of_text, of_image]);
    let scores = analysed.scores.unwrap();
    assert_eq!(
        (scores.get(Violence), scores.get(Hate)),
        (Some(0.7), Some(0.6))
    );
    assert_eq!(analysed.image_scored, Some(true));
    assert_eq!(analysed.unchecked, []);
    let told: Vec<_> = analysed.providers.iter().map(|r| r.modality).collect();
    assert_eq!(told, [Modality::Text, Modality::Image]);
}

#[test]
fn an_image_is_scored_or_was_only_looked_at_or_not_even_that() {
    use Category::{Hate, Violence};
    let item = item(&[Violence], Vec::new());
    let nobody = ended(image(&item));
    assert_eq!((nobody.image_scored, nobody.unchecked), (None, vec![]));

    let mut looked = image(&item);
    looked.said("one", &[], answer(&[(Hate, 0.1)]), SECOND);
    let looked = ended(looked);
    assert_eq!(
        (looked.image_scored, looked.unchecked),
        (Some(false), vec![])
    );

    let mut failed = image(&item);
    failed.said("one", &[], answer(&[]), SECOND);
    failed.failed("two", &[Violence], &ProviderError::TimedOut, SECOND);
    let failed = ended(failed);
    assert_eq!(failed.image_scored, None);
    assert_eq!(
        names(&failed.unchecked),
        ["the analysis of the image by `two` failed"]
    );

    let mut broken = image(&item);
    broken.unseen(ImageProblem::Undecodable, &[Violence]);
    let broken = ended(broken);
    assert_eq!(names(&broken.unchecked), ["the image could not be decoded"]);
}

#[test]
fn case_69_an_image_that_was_shown_in_part_is_unchecked_although_all_was_scored() {
    use Category::Violence;
    let item = item(&[Violence], Vec::new());
    let mut modality_analysis = image(&item);
    modality_analysis.said("one", &[Violence], answer(&[(Violence, 0.1)]), SECOND);
    modality_analysis.saw_in_part(ImageProblem::TooLarge);
    let analysed = ended(modality_analysis);
    let problem = ImageProblem::TooLarge;
    let told = [Unchecked::ImageNotAnalysed { problem }];
    assert_eq!(analysed.unchecked, told);
    assert_eq!(analysed.providers[0].unseen, Some(problem));

    // In an earlier run, too.
    let part = Part {
        provider: "one".into(),
        modality: Modality::Image,
        scores: Some([(Violence, 0.1)].into_iter().collect()),
        unseen: Some(problem),
    };
    let item = self::item(&[Violence], vec![part]);
    assert_eq!(ended(image(&item)).unchecked, told);
}

#[test]
fn an_unknown_provider_is_told_at_the_end_and_may_be_known_to_the_next_run() {
    let item = item(&[Category::Hate], Vec::new());
    let unknown = || {
        let mut modality_analysis = text(&item);
        modality_analysis.unknown("gone");
        modality_analysis
    };
    assert!(ModalityAnalysis::begun(vec![unknown()]).is_none());
    let analysed = ended(unknown());
    assert_eq!(analysed.providers[0].failure.as_deref(), Some(UNKNOWN));
    assert_eq!(
        names(&analysed.unchecked),
        ["the analysis by `gone` failed"]
    );
}

#[test]
fn an_image_that_only_narrow_providers_saw_is_not_checked_for_the_rest() {
    use Category::{Adult, Hate, Violence};
    let wants = item(&[Adult, Violence, Hate], Vec::new());
    let left_out =
        |modality_analysis: ModalityAnalysis<'_>| ended(modality_analysis).gaps.remove(0).left_out;

    let mut modality_analysis = image(&wants);
    modality_analysis.said("narrow", &[Adult], answer(&[(Adult, 0.1)]), SECOND);
    assert_eq!(left_out(modality_analysis), [Violence, Hate]);

    // Another one looked at all of it, and knows nothing of hate.
    let mut modality_analysis = image(&wants);
    modality_analysis.said("narrow", &[Adult], answer(&[(Adult, 0.1)]), SECOND);
    modality_analysis.said("wide", &[Violence], answer(&[(Violence, 0.1)]), SECOND);
    assert_eq!(left_out(modality_analysis), []);

    // What failed is told as such.
    let mut modality_analysis = image(&wants);
    modality_analysis.said("narrow", &[Adult], answer(&[(Adult, 0.1)]), SECOND);
    modality_analysis.failed("wide", &[Violence, Hate], &ProviderError::TimedOut, SECOND);
    assert_eq!(left_out(modality_analysis), []);

    let enough = item(&[Adult], Vec::new());
    let mut modality_analysis = image(&enough);
    modality_analysis.said("narrow", &[Adult], answer(&[(Adult, 0.1)]), SECOND);
    let ended_well = ended(modality_analysis);
    assert_eq!(
        (ended_well.image_scored, ended_well.gaps[0].left_out.len()),
        (Some(true), 0)
    );

    // No rule says what to look for, so this little is no examination.
    let nothing = item(&[], Vec::new());
    let mut modality_analysis = image(&nothing);
    modality_analysis.said("narrow", &[Adult], answer(&[(Adult, 0.1)]), SECOND);
    assert_eq!(ended(modality_analysis).image_scored, None);
}
