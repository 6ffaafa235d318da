//! The words, endings and names by which links are told from sentences and files.

use std::sync::LazyLock;

/// Common English words, sorted.
const ENGLISH: &str = include_str!("english.txt");

/// Endings of files that are also endings of domains. Such a name is a link only with a path.
pub(super) const FILES: [&str; 9] = ["cc", "md", "mm", "mov", "ps", "py", "rs", "sh", "zip"];

/// Endings of domains that files have, too. Only names that files usually have are taken for files.
pub(super) const RARE_FILES: [&str; 14] = [
    "ac", "ai", "am", "app", "as", "com", "in", "la", "mk", "ml", "pl", "pm", "so", "tf",
];
pub(super) const FILE_NAMES: [&str; 45] = [
    "aclocal",
    "app",
    "archive",
    "autorun",
    "backup",
    "banner",
    "build",
    "check",
    "cleanup",
    "client",
    "command",
    "config",
    "configure",
    "convert",
    "default",
    "deploy",
    "example",
    "export",
    "fetch",
    "import",
    "index",
    "install",
    "license",
    "list",
    "logo",
    "main",
    "makefile",
    "module",
    "output",
    "parse",
    "parser",
    "poster",
    "readme",
    "run",
    "script",
    "server",
    "settings",
    "setup",
    "start",
    "terraform",
    "test",
    "tests",
    "update",
    "util",
    "utils",
];

/// Products with names like domains.
pub(super) const PRODUCTS: [&str; 5] = ["ado.net", "asp.net", "ml.net", "paint.net", "vb.net"];

/// Names of packages in programs begin with the ending of a domain.
pub(super) const PACKAGES: [&str; 9] = [
    "com", "org", "net", "edu", "gov", "io", "dev", "java", "javax",
];

/// Units, and parts of dates, that follow a number without a space.
pub(super) const UNITS: [&str; 17] = [
    "am", "cc", "cm", "fm", "gb", "gm", "in", "kg", "km", "la", "mg", "ml", "mm", "pm", "st", "th",
    "tm",
];

/// English words that are also endings, but are not in the list of words.
const ENGLISH_ENDINGS: [&str; 4] = ["app", "id", "mo", "tv"];

/// Words of other languages that are also endings: French, Spanish, Italian, German, Portuguese, Dutch,
/// Polish, Turkish, Swedish, Indonesian.
pub(super) const OTHER_ENDINGS: [&str; 46] = [
    "ai", "al", "am", "ao", "ba", "ca", "ci", "co", "cu", "da", "de", "do", "du", "er", "es", "et",
    "eu", "il", "im", "in", "is", "je", "la", "li", "ma", "me", "mi", "mu", "na", "ne", "ni", "no",
    "nu", "om", "pa", "po", "sa", "se", "si", "so", "su", "te", "to", "va", "ve", "vi",
];

/// Frequent last words of sentences in these languages, without accents.
const OTHER_WORDS: &str = "\
    aqui alli asi ayer bien bueno cada casa cosa cosas dia dias dinero donde entonces eso esta esto hoy hola jamas luego \
    manana mas mejor menos mismo momento mucho mundo nada nadie noche nunca ojala ok otra otro peor persona poco porque \
    problema puede quiero semana siempre tambien tanto tarde tiempo todo todos trabajo usted verdad vez vida ya \
    alors apres aujourd aussi avant avec beaucoup bonjour chose ca chez comme demain deja dire encore enfin ensuite etait \
    faire fait fini heure hier ici jamais jour jours juste maintenant mal merci mieux moins monde oui pareil parti pas plus \
    quoi rien soir temps toujours tout vite voila vraiment \
    abend alle alles auch da damit dann danke dort einfach etwas falsch fertig frei gar gehen gemacht genau gestern gesehen \
    gut haben habe haus heute hier immer ja jetzt kein kommt leider leute machen mal mehr mich montag morgen muss nein nicht \
    nichts noch nur richtig schade schlecht schnell schon sehr sein spaet tag uhr viel vorbei weg weiter weiss wieder wissen \
    zeit zurueck \
    adesso allora ancora andato anche basta bella bello bene casa cosi detto domani dopo fatto ieri insieme male meglio mai \
    meno molto niente nulla oggi ora perche pero piu poi prima qui quindi sempre sera subito tanto tardi tutto tutti vero via \
    agora ainda amanha aqui bem certo coisa depois dele dela demais entao feito gente hoje isso ja longe mal mesmo muito nada \
    nao noite nunca obrigado ontem outra pouco quando rapido sempre sim tambem tarde tempo trabalho tudo vida voce \
    altijd daar dan eens gaan gedaan gewoon goed graag hebben hier huis iets jammer klaar laat later leuk meer mooi morgen \
    niet niets nog nooit nu ook over snel straks terug thuis toch vandaag veel waar weer weg werk zeker \
    bardzo czas dobrze domu dzis jest juz jutro kiedy mnie moze nic nie nigdy pozno potem praca prawda razem teraz tez tylko \
    tutaj wczoraj wiem wszystko zawsze \
    aferin ama artik bana bence bugun burada cok degil dogru evde geldim gel guzel haber hayir iyi kadar lazim oldu olur \
    sana simdi sonra tamam tesekkurler var yarin yok \
    alltid bra dag dar ganska hela hem hemma har idag igen inte ja jobbet kanske klar kul lite mer mycket nagot nej nog nu \
    ocksa sedan sent sen snart tack tid var \
    aja bagus baik banyak besok boleh di dia dulu hari ini itu juga kamu kemarin lagi malam nanti pulang rumah saja sama saya \
    sekarang selesai semua sudah tadi tidak";

/// Endings that are common enough to be read behind spaces or the word "dot", and in text without spaces.
pub(super) const COMMON: [&str; 38] = [
    "at", "biz", "br", "cc", "ch", "club", "cn", "co", "com", "cz", "de", "eu", "fr", "gg", "info",
    "io", "jp", "kr", "ly", "net", "nl", "onion", "online", "org", "pl", "ru", "shop", "site",
    "store", "su", "th", "tk", "top", "tv", "tw", "ua", "uk", "xyz",
];

/// The most common endings in scripts without spaces.
pub(in crate::rules::link) const UNSPACED: [&str; 13] = [
    "中国",
    "中國",
    "公司",
    "网络",
    "網路",
    "在线",
    "香港",
    "台湾",
    "台灣",
    "みんな",
    "コム",
    "ไทย",
    "한국",
];

/// Words before "dot com" and ". net" that are no names of hosts.
pub(super) const BEFORE_DOT: [&str; 84] = [
    "a",
    "about",
    "after",
    "all",
    "an",
    "and",
    "another",
    "any",
    "are",
    "as",
    "asp",
    "at",
    "be",
    "before",
    "big",
    "black",
    "blue",
    "but",
    "by",
    "c",
    "called",
    "do",
    "during",
    "early",
    "every",
    "failed",
    "first",
    "for",
    "former",
    "from",
    "green",
    "had",
    "has",
    "have",
    "her",
    "his",
    "i",
    "in",
    "into",
    "is",
    "its",
    "java",
    "last",
    "late",
    "learn",
    "like",
    "little",
    "many",
    "microsoft",
    "most",
    "my",
    "new",
    "no",
    "of",
    "old",
    "on",
    "one",
    "or",
    "our",
    "over",
    "polka",
    "red",
    "since",
    "small",
    "some",
    "than",
    "that",
    "the",
    "their",
    "these",
    "this",
    "those",
    "to",
    "two",
    "under",
    "until",
    "use",
    "used",
    "using",
    "was",
    "white",
    "with",
    "yellow",
    "your",
];

/// Words after "dot com" that tell that it is an adjective: "dot com boom".
pub(super) const AFTER_DOT: [&str; 26] = [
    "age",
    "app",
    "boom",
    "bubble",
    "bust",
    "businesses",
    "code",
    "companies",
    "company",
    "core",
    "craze",
    "crash",
    "days",
    "developer",
    "developers",
    "era",
    "framework",
    "millionaire",
    "millionaires",
    "pattern",
    "patterns",
    "product",
    "programming",
    "startup",
    "startups",
    "years",
];

/// Whether it is a common English word.
pub(super) fn is_english(word: &str) -> bool {
    static WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let lines = ENGLISH.lines();
        lines.filter(|line| !line.starts_with('#')).collect()
    });
    ENGLISH_ENDINGS.contains(&word) || WORDS.binary_search(&word).is_ok()
}

/// Whether it is a frequent last word of sentences in other languages.
pub(super) fn is_other_word(word: &str) -> bool {
    static WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let mut words: Vec<_> = OTHER_WORDS.split_whitespace().collect();
        words.sort_unstable();
        words
    });
    WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_sorted() {
        let words = || ENGLISH.lines().filter(|line| !line.starts_with('#'));
        assert!(words().is_sorted() && words().count() > 10_000);
        assert!(is_english("late") && is_english("so") && !is_english("com"));
    }
}
