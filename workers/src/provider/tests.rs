//! Which settings of a provider change its fingerprint.

use super::{Auth, Chat, ChatSettings, Fingerprint, Hive, OpenAi, Provider, Remote, Style};

fn remote() -> Remote {
    Remote::example("http://a/", Auth::Bearer("sk-1".into()))
}

fn of(provider: &impl Provider) -> Fingerprint {
    provider.profile().access.as_ref().unwrap().fingerprint
}

#[test]
fn case_72_models_policies_and_what_is_flagged_change_the_fingerprint() {
    let chat = |model: &str, usual: &str, settings| {
        let usual = usual.to_owned();
        of(&Chat::new(remote(), model.into(), Style::Policy { usual }, settings).unwrap())
    };
    let plain = chat("m", "p", ChatSettings::default());
    assert_eq!(plain, chat("m", "p", ChatSettings::default()));
    let warm = ChatSettings {
        temperature: false,
        ..ChatSettings::default()
    };
    assert_ne!(plain, chat("n", "p", ChatSettings::default()));
    assert_ne!(plain, chat("m", "q", ChatSettings::default()));
    assert_ne!(plain, chat("m", "p", warm));
    let openai = |least| of(&OpenAi::new(remote(), "m".into(), least).unwrap());
    assert_ne!(openai(0.5), openai(0.6));
    // A key of Hive selects a project, and a project is a model.
    let hive = |key: &str| {
        let auth = Auth::Bearer(key.into());
        of(&Hive::new(Remote { auth, ..remote() }).unwrap())
    };
    assert_ne!(hive("1"), hive("2"));
}
