//! Sentences by category, with the band in which each score must fall.

use super::*;

#[test]
fn harmless_texts_score_low_everywhere() {
    for text in [
        "",
        "Hello, how are you today?",
        "The quick brown fox jumps over the lazy dog.",
        "She killed it on stage last night!",
        "We were just killing time at the airport.",
        "Could you shoot me an email when you get a chance?",
        "I'll shoot you a message later.",
        "This chocolate cake is to die for.",
        "My feet are killing me after that hike.",
        "Run kill -9 on the server, then execute the query again.",
        "The garbage collector in this language is really fast.",
        "The photo shoot is on Tuesday; bring your blue shirt.",
        "I'll beat you at chess one day.",
        "Get your blood pressure checked, it is free for students.",
        "Scunthorpe is a town in Lincolnshire; the class will assess it.",
        "Breast cancer screening saves lives.",
        "Sex education is taught in year nine.",
        "Moby Dick is a novel about a whale.",
        "Visible to the naked eye on a clear night.",
        "I have such a crush on you.",
        "Women and men deserve equal pay.",
        "Immigrants make our city a better place.",
        "Great product, arrived on time and works as described. Five stars!",
        "Don't worry, you are not stupid, everybody fails sometimes.",
        "The suicide prevention hotline is open day and night.",
        "Das Wetter ist heute schön, wir gehen spazieren.",
        "Me encanta este lugar, la comida es increíble.",
    ] {
        for (category, score) in ANALYSER.analyse(text).iter() {
            assert!(LOW.contains(&score), "{text}: {category} {score:.3}");
        }
    }
}

#[test]
fn violence_is_graded() {
    check(
        Violence,
        &[
            ("I will kill you", HIGH),
            ("i'm gonna k1ll you tonight", HIGH),
            ("I'm going to slit your throat", HIGH),
            ("Tomorrow I am shooting up the school", HIGH),
            ("kill them all", HIGH),
            ("I want to stab my boss", HIGH),
            ("someone should shoot him", HIGH),
            ("murder her", SOME),
            ("the severed head lay in a pool of blood", SOME),
            ("I would never kill you", LOW),
            ("The police reported that a man was killed downtown.", LOW),
            ("In the movie the hero has to kill the dragon.", LOW),
            ("I punch in at nine and go home at five", LOW),
        ],
    );
}

#[test]
fn self_harm_is_graded() {
    check(
        SelfHarm,
        &[
            ("I want to kill myself", HIGH),
            ("i just want to die", HIGH),
            ("I don't want to live anymore", HIGH),
            ("everyone would be better off without me", HIGH),
            ("kill yourself", HIGH),
            ("k y s loser", HIGH),
            ("I have been cutting myself again", HIGH),
            ("we talked about suicide", SOME),
            ("I don't want to die", LOW),
            ("A study about suicide in rural areas", LOW),
            ("Suicide Squad was on television", LOW),
        ],
    );
}

#[test]
fn adult_is_graded() {
    check(
        Adult,
        &[
            ("free porn videos", HIGH),
            ("send nudes, I am so horny", HIGH),
            ("p0rn for everyone", HIGH),
            ("she looked sexy in that dress", SOME),
            ("hot milf in your area", SOME),
            ("they met at a strip club", SOME),
            ("the sexual reproduction of plants", LOW),
        ],
    );
}

#[test]
fn hate_needs_a_group_and_contempt() {
    check(
        Hate,
        &[
            ("All immigrants should be killed", HIGH),
            ("Jews are vermin", HIGH),
            ("muslims are animals and should not exist", HIGH),
            ("Death to all gays", HIGH),
            ("Sieg Heil", HIGH),
            ("I hate black people", SOME),
            ("refugees don't belong here", SOME),
            ("I hate mondays", LOW),
            ("rats are vermin", LOW),
            ("I don't hate women", LOW),
            (
                "The museum shows how propaganda said that Jews are vermin",
                SOME,
            ),
            ("Hate crimes against muslims must be condemned", LOW),
            ("Muslims celebrate Eid this week", LOW),
        ],
    );
}

#[test]
fn harassment_is_graded_by_aim() {
    check(
        Harassment,
        &[
            ("You are such a pathetic loser, nobody likes you", HIGH),
            ("fuck you", HIGH),
            ("you idiot", SOME),
            ("shut up already", SOME),
            ("what a stupid door", LOW),
            ("you are not an idiot", LOW),
        ],
    );
}

#[test]
fn illicit_and_spam_are_graded() {
    check(
        Illicit,
        &[
            ("Buy cocaine here, fast shipping", HIGH),
            ("fake passports and counterfeit money", HIGH),
            ("the film is about heroin", LOW),
        ],
    );
    check(
        Spam,
        &[
            (
                "Click here to claim your prize!!! Limited time offer, act now https://win.example",
                HIGH,
            ),
            (
                "Make money fast, guaranteed income, DM me for details",
                HIGH,
            ),
            ("cheap viagra", SOME),
            ("See https://example.com for the documentation", LOW),
        ],
    );
}
