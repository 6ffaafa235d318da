//! Everyday words of sixteen languages in ten scripts, and a few rude phrases.

use std::sync::LazyLock;

/// Whether words are written apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spacing {
    Words,
    None,
}

/// The parts of a language's sentences.
pub(super) struct Language {
    pub(super) words: Vec<&'static str>,
    pub(super) spacing: Spacing,
    /// What ends a statement, and what ends an exclamation or a question.
    pub(super) marks: [char; 2],
}

fn spaced(words: &'static str) -> Language {
    Language {
        words: words.split(' ').collect(),
        spacing: Spacing::Words,
        marks: ['.', '!'],
    }
}

fn unspaced(words: &'static str) -> Language {
    Language {
        words: words.split(' ').collect(),
        spacing: Spacing::None,
        marks: ['。', '！'],
    }
}

/// The first is plain ASCII.
pub(super) static LANGUAGES: LazyLock<[Language; 16]> = LazyLock::new(|| {
    [
        spaced(
            "the a we garden market bicycle yesterday bought fresh bread and with my neighbour \
             walked along river because weather was lovely after lunch recipe needs two onions \
             train arrived late but everyone enjoyed concert photo lake please send invoice before \
             friday thanks for quick answer window kitchen",
        ),
        spaced(
            "der die das Garten Markt Fahrrad gestern kaufte frisches Brötchen und mit meiner \
             Nachbarin spazierte entlang Fluss weil Wetter schön war Mittagessen Rezept braucht \
             zwei Zwiebeln Zug spät alle freuten sich über Grüße",
        ),
        spaced(
            "le la nous jardin marché vélo hier acheté pain frais et avec ma voisine promenade \
             rivière parce que météo était agréable après déjeuner recette deux oignons arrivé tard \
             tout monde forêt à bientôt où",
        ),
        spaced(
            "el la nosotros jardín mercado bicicleta ayer compré pan fresco y con mi vecino \
             caminamos junto río porque tiempo bonito después almuerzo receta dos cebollas llegó \
             tarde todos mañana niños canción gracias",
        ),
        spaced(
            "o a nós jardim feira bicicleta ontem comprei pão fresco e com minha vizinha passeamos \
             rio porque tempo bonito depois almoço receita duas cebolas chegou tarde canção \
             obrigado até amanhã coração",
        ),
        spaced(
            "ogród targ rower wczoraj kupiłem świeży chleb i z moją sąsiadką spacer wzdłuż rzeki \
             ponieważ pogoda była piękna po obiedzie przepis dwie cebule pociąg późno wszyscy \
             dziękuję źródło łąka",
        ),
        spaced(
            "bahçe pazar bisiklet dün taze ekmek aldım ve komşum ile nehir boyunca yürüdük çünkü \
             hava güzeldi öğle yemeği tarif iki soğan tren geç geldi herkes teşekkürler ışık gölge",
        ),
        spaced(
            "vườn chợ xe đạp hôm qua mua bánh mì tươi và với hàng xóm đi bộ dọc sông vì thời tiết \
             đẹp sau bữa trưa công thức cảm ơn",
        ),
        spaced(
            "сад рынок велосипед вчера купили свежий хлеб и с моей соседкой гуляли вдоль реки \
             потому что погода была хорошая после обеда рецепт две луковицы поезд поздно спасибо \
             ёлка",
        ),
        spaced(
            "κήπος αγορά ποδήλατο χθες αγόρασα φρέσκο ψωμί και με γείτονα περπατήσαμε ποτάμι επειδή \
             καιρός ήταν ωραίος μετά συνταγή δύο κρεμμύδια τρένο ευχαριστώ",
        ),
        spaced(
            "حديقة سوق دراجة أمس اشترينا خبز طازج مع جارتي مشينا نهر لأن الطقس جميل بعد الغداء وصفة \
             بصلتان القطار متأخر شكرا صورة بحيرة",
        ),
        spaced(
            "גינה שוק אופניים אתמול קנינו לחם טרי עם השכנה הלכנו לאורך הנהר כי מזג האוויר היה נעים \
             אחרי ארוחת צהריים מתכון תודה",
        ),
        spaced(
            "बगीचा बाज़ार साइकिल कल ताज़ी रोटी खरीदी और पड़ोसी के साथ नदी किनारे घूमे क्योंकि मौसम \
             अच्छा था दोपहर खाना दो प्याज धन्यवाद",
        ),
        unspaced(
            "花园 市场 自行车 昨天 买了 新鲜 面包 和 邻居 一起 沿着 河边 散步 因为 天气 很好 午饭 以后 食谱 需要 两个 洋葱 火车 晚到 大家 谢谢 照片 湖",
        ),
        unspaced(
            "庭 市場 自転車 昨日 新鮮な パンを 買って 隣の人と 川沿いを 歩いた 天気が よかった から 昼ごはんの 後で レシピには 玉ねぎが 二つ 必要です 電車は 遅れた \
             ありがとう",
        ),
        spaced(
            "정원 시장 자전거 어제 신선한 빵을 샀고 이웃과 함께 강가를 걸었다 날씨가 좋아서 점심 후에 요리법 양파 두 개 기차가 늦게 도착했다 감사합니다 사진 호수",
        ),
    ]
});

/// What people add to a sentence.
pub(super) const EXTRAS: [&str; 8] = [
    " 🎉",
    " 😀👍",
    " 🏞️ #lake",
    " https://example.com/garden?ref=42",
    " (see p. 17)",
    " @anna",
    " 12.50 €",
    " …",
];

/// Phrases whose verdict depends on a score.
pub(super) const RUDE: [&str; 10] = [
    "you are such an idiot",
    "shut up already",
    "what a stupid thing to say",
    "I hate this so much",
    "go to hell",
    "this is complete crap",
    "du bist so ein Trottel",
    "quel imbécile",
    "I could kill for a pizza now",
    "damn that was bloody loud",
];
