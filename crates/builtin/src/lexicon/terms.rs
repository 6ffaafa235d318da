//! The words that the analyser knows: signs with their weights, and words that show the context.
//!
//! Terms are separated by `|`, and found as whole words on the readings of [`domain::text`]. A
//! weight is the score that one such sign gives if its needs are met and nothing weakens it: about
//! 0.3 for coarse language, 0.6 for what a person should see, 0.9 for what nobody should see.

use domain::score::Category::{self, Adult, Harassment, Hate, Illicit, SelfHarm, Spam, Violence};

/// An entry: terms that mean the same.
pub(super) struct Entry {
    pub(super) role: Role,
    pub(super) terms: &'static str,
}

/// What a term is for.
#[derive(Clone, Copy)]
pub(super) enum Role {
    /// Adds to the scores of categories, each with a weight from 0 to 1.
    Sign {
        needs: Needs,
        weights: &'static [(Category, f64)],
    },
    /// An idiom; signs inside it mean nothing.
    Harmless,
    /// Somebody who can be addressed.
    Target,
    /// People with a common trait. Harmless in itself.
    Group,
    /// Announces a deed.
    Intent,
    /// Strengthens.
    Intensifier,
    /// Denies.
    Negation,
    /// Marks reports, fiction, lessons and help.
    Distance,
}

/// What a sign needs to count.
#[derive(Clone, Copy)]
pub(super) enum Needs {
    Nothing,
    /// A target. Without one, the sign is weaker.
    Target,
    /// A group in the same sentence. Without one, the sign means nothing.
    Group,
}

const fn sign(weights: &'static [(Category, f64)], terms: &'static str) -> Entry {
    Entry {
        role: Role::Sign {
            needs: Needs::Nothing,
            weights,
        },
        terms,
    }
}

const fn aimed(weights: &'static [(Category, f64)], terms: &'static str) -> Entry {
    Entry {
        role: Role::Sign {
            needs: Needs::Target,
            weights,
        },
        terms,
    }
}

const fn at_group(weights: &'static [(Category, f64)], terms: &'static str) -> Entry {
    Entry {
        role: Role::Sign {
            needs: Needs::Group,
            weights,
        },
        terms,
    }
}

const fn context(role: Role, terms: &'static str) -> Entry {
    Entry { role, terms }
}

/// Everything the analyser knows.
pub(super) const LEXICON: &[Entry] = &[
    // Violence: threats, deeds, gore.
    sign(
        &[(Violence, 0.92), (Harassment, 0.6)],
        "i will kill you|i'll kill you|going to kill you|gonna kill you|\
        i will murder you|i'll murder you|going to murder you|gonna murder you|slit your throat|cut your throat|\
        blow your brains out|put a bullet in you|put a bullet in your head|beat you to death|stab you to death|\
        burn you alive|beat the shit out of you|you are dead meat|you're dead meat|watch you bleed|\
        i hope you die|hope you die|you deserve to die|going to hurt you|gonna hurt you|make you suffer",
    ),
    sign(
        &[(Violence, 0.92)],
        "shoot up the|shooting up the|bomb the school|blow up the school|kill them all|\
        kill everyone|kill every one of them|kill as many as|mass shooting tomorrow",
    ),
    sign(
        &[(Violence, 0.7)],
        "break your legs|break your neck|break your face|smash your face|smash your head|\
        punch your face|punch you in the face|kick your teeth in|kill him|kill her|kill them|shoot him|shoot her|\
        stab him|stab her|beat her up|beat him up|bash his head|bash her head|know where you live",
    ),
    aimed(
        &[(Violence, 0.62)],
        "kill|killing|murder|murdering|slaughter|behead|strangle|stab|shoot|lynch|butcher|\
        execute|suffocate|dismember",
    ),
    aimed(
        &[(Violence, 0.3)],
        "hurt|beat|punch|smash|attack|choke|burn|whip|slap|crush",
    ),
    sign(
        &[(Violence, 0.55)],
        "dismembered|decapitate|decapitated|decapitation|beheaded|beheading|mutilate|mutilated|\
        mutilation|disembowel|disemboweled|entrails|bloodbath|massacre|massacred|gore|gory|severed head|severed limbs|\
        pool of blood|blood everywhere|tortured to death|burned alive|skull crushed",
    ),
    sign(
        &[(Violence, 0.25)],
        "murdered|killed|stabbed|stabbing|shot dead|gunned down|shooting|bomb|bombing|corpse|\
        dead body|torture|tortured|blood|execution|strangled|assassinate|assassinated",
    ),
    // Self-harm: intent, pushing others, talk.
    sign(
        &[(SelfHarm, 0.92)],
        "kill myself|killing myself|end my life|ending my life|take my own life|\
        taking my own life|hang myself|shoot myself|slit my wrists|cut my wrists|end it all|want to die|wanna die|\
        want to be dead|wish i was dead|wish i were dead|wish i was never born|don't want to live|dont want to live|\
        do not want to live|don't want to be alive|no reason to live|nothing to live for|commit suicide|\
        going to overdose|overdose on pills|jump off a bridge|better off without me|better off dead",
    ),
    sign(
        &[(SelfHarm, 0.8)],
        "cut myself|cutting myself|hurt myself|hurting myself|harm myself|harming myself|\
        burn myself|starve myself|starving myself|hate being alive|tired of living|tired of being alive",
    ),
    sign(
        &[(SelfHarm, 0.88), (Harassment, 0.85), (Violence, 0.3)],
        "kill yourself|killing yourself|kys|hang yourself|\
        end your life|neck yourself|drink bleach|shoot yourself|slit your wrists|jump off a cliff|\
        go die|world would be better without you",
    ),
    sign(
        &[(SelfHarm, 0.5)],
        "suicide|suicidal|self harm|self-harm|self harming|self-harming|self injury|\
        self-injury|thinspo|pro ana|pro-ana|overdose",
    ),
    // Adult.
    sign(
        &[(Adult, 0.85)],
        "porn|porno|pornography|pornographic|hardcore sex|blowjob|blow job|handjob|hand job|\
        cumshot|creampie|gangbang|deepthroat|hentai|masturbate|masturbating|masturbation|anal sex|oral sex|threesome|\
        send nudes|nude pics|naked pics|sexting|camgirl|cam girl|sex tape|sex video|sex videos|fuck me|fuck you hard|\
        suck my dick|suck my cock|lick my pussy|ride my dick|have sex with me|want to have sex|wet pussy|hard cock",
    ),
    sign(
        &[(Adult, 0.6)],
        "xxx|milf|dildo|vibrator|orgasm|orgasms|nudes|onlyfans|escort service|strip club|stripper|\
        strippers|bdsm|bondage|horny|erotic|erotica|sexual fantasies|take off your clothes|sleep with me tonight|\
        hook up tonight|big tits|huge tits|nice tits|ejaculate|ejaculation",
    ),
    sign(
        &[(Adult, 0.35)],
        "sex|sexy|nude|naked|nudity|boobs|tits|pussy|dick|cock|penis|vagina|nipples|kinky|aroused|\
        fetish|lingerie|hooker|hookers|prostitute|prostitutes|seduce|lust",
    ),
    sign(
        &[(Adult, 0.2)],
        "breasts|intercourse|condom|condoms|topless|underwear|sexual",
    ),
    // Hate: what is said about groups, and creeds that need no group.
    at_group(
        &[(Hate, 0.92), (Violence, 0.5)],
        "should be killed|should be shot|should be hanged|should all die|\
        should die|must die|deserve to die|deserve death|exterminate|exterminated|wipe out|wiped out|eradicate|\
        eradicated|gas the|gas all|kill all|kill the|death to|burn the|burn all|hang the|shoot all",
    ),
    at_group(
        &[(Hate, 0.85)],
        "are vermin|are animals|are subhuman|are subhumans|are parasites|are a plague|\
        are a disease|are a cancer|are cockroaches|are rats|are pigs|are apes|are monkeys|are filth|are filthy|are scum|\
        are savages|are trash|are garbage|are inferior|an inferior race|are not human|aren't human|are not people|\
        are less than human|are all criminals|are all terrorists|are all rapists|are all thieves|are all liars|\
        subhuman|vermin|deport all|deport them all|hate all|hate every|hate those|should not exist|shouldn't exist|\
        should be banned from|do not deserve rights|don't deserve rights",
    ),
    at_group(
        &[(Hate, 0.6)],
        "i hate|we hate|hate|hates|despise|disgust me|are disgusting|go back to|\
        get out of our country|don't belong here|do not belong here|not welcome here|are ruining|ruin everything|\
        are stupid|are dumb|are lazy|are dirty|are evil|are all the same|are invading|are replacing us|invasion of|\
        can't be trusted|cannot be trusted|shouldn't be allowed|should not be allowed",
    ),
    sign(
        &[(Hate, 0.9)],
        "heil hitler|sieg heil|white power|master race|race traitor|race traitors|race war now|\
        gas the jews|racial purity|untermensch|hitler was right|14 words|subhuman race",
    ),
    // Slurs, the unambiguous ones only.
    sign(
        &[(Hate, 0.85), (Harassment, 0.5)],
        "nigger|niggers|kike|kikes|faggot|faggots|wetback|wetbacks|raghead|\
        ragheads|towelhead|towelheads|gook|gooks|tranny|trannies",
    ),
    // Harassment.
    sign(
        &[(Harassment, 0.85)],
        "nobody likes you|no one likes you|everyone hates you|nobody loves you|\
        you are worthless|you're worthless|you are a waste of|you're a waste of|waste of oxygen|i hate you|\
        you disgust me|you make me sick|go to hell|rot in hell|piece of shit|fuck you|screw you|you piece of trash|\
        you should be ashamed to exist|ugly bitch|stupid bitch|fucking bitch|dumb bitch|fucking idiot|fucking moron|\
        i will find you|i'll find you|watch your back",
    ),
    sign(
        &[(Harassment, 0.5)],
        "shut up|shut the fuck up|stfu|get lost|fuck off|piss off",
    ),
    aimed(
        &[(Harassment, 0.6)],
        "idiot|idiots|moron|morons|imbecile|stupid|dumb|loser|losers|pathetic|worthless|ugly|\
        trash|garbage|scum|bitch|whore|slut|bastard|asshole|dickhead|retard|retarded|disgusting|freak|creep|clown|\
        coward|pig|fat cow|useless|brainless",
    ),
    // Illicit.
    sign(
        &[(Illicit, 0.8)],
        "buy cocaine|sell cocaine|selling cocaine|buy weed|sell weed|selling weed|buy drugs|\
        sell drugs|selling drugs|buy heroin|buy meth|buy mdma|buy fentanyl|cocaine for sale|heroin for sale|\
        mdma for sale|fake passport|fake passports|fake ids|stolen credit card|stolen credit cards|cvv dumps|\
        counterfeit money|counterfeit bills|how to make a bomb|how to build a bomb|make a pipe bomb|build a pipe bomb|\
        cook meth|make meth|untraceable gun|ghost gun|hire a hitman|hitman for hire|launder money|no prescription needed|\
        without a prescription|guns for sale no",
    ),
    sign(
        &[(Illicit, 0.3)],
        "cocaine|heroin|meth|methamphetamine|mdma|fentanyl|ketamine|crack pipe|hitman|darknet",
    ),
    // Spam.
    sign(&[(Spam, 0.4)], "click here|click this link|click the link"),
    sign(
        &[(Spam, 0.4)],
        "buy now|order now|act now|limited time offer|limited offer|today only|hurry up|special offer",
    ),
    sign(
        &[(Spam, 0.55)],
        "free money|make money fast|earn money fast|earn money online|earn $|get rich|\
        double your bitcoin|double your money|crypto giveaway",
    ),
    sign(
        &[(Spam, 0.55)],
        "guaranteed income|guaranteed profit|guaranteed returns|passive income from home|\
        work from home and earn|financial freedom now",
    ),
    sign(
        &[(Spam, 0.55)],
        "you have won|you've won|you have been selected|you are a winner|claim your prize|\
        claim your reward|claim your gift|free gift card|free iphone",
    ),
    sign(
        &[(Spam, 0.5)],
        "cheap viagra|viagra|cialis|miracle weight loss|lose weight fast|enlarge your|no credit check|\
        casino bonus|free spins|online casino|replica watches|seo services|buy followers|cheap followers",
    ),
    sign(
        &[(Spam, 0.3)],
        "100% free|risk free|risk-free|no risk|satisfaction guaranteed|lowest price|best price|\
        subscribe to my channel|follow me back|follow for follow|dm me for|whatsapp me|text me on whatsapp|\
        visit my website|visit our website|check out my profile|link in bio|investment opportunity",
    ),
    sign(&[(Spam, 0.12)], "http|https|www"),
    // Idioms and ordinary phrases.
    context(
        Role::Harmless,
        "killed it|killing it|kill it on stage|kill time|killing time|dressed to kill|\
        kill two birds|kill the lights|kill the engine|kill the process|kill process|kill the server|kill the mood|\
        kill the job|kill -9|killing me|kills me|killer app|to die for|buzz kill|could kill for|would kill for|\
        my feet are killing|road kill|shoot me an email|shoot me a|shoot you an email|shoot you a|shoot an email|\
        shoot him an email|shoot her an email|shoot the breeze|shoot for the|photo shoot|shoot a video|shoot a film|\
        shooting star|shooting stars|shooting hoops|shooting guard|beat you at|beat you in|beat you to it|beat it|\
        beat the clock|beat the record|beat the traffic|beat the heat|heart beat|beat the game|drum beat|hit me up|\
        attack of the|heart attack|panic attack|smash hit|smash burger|smash the like|smash that like|crush on you|\
        have a crush|had a crush|crush it|crushed it|crushing it|burn calories|feel the burn|slow burn|whip up|\
        whipped cream|punch line|fruit punch|hole punch|choke point|execute the|execute a query|execute order|\
        attack surface|attack vector|bath bomb|bath bombs|photo bomb|bomb shelter|the bomb dot com|f bomb|\
        blood pressure|blood test|blood tests|blood type|blood donation|donate blood|blood bank|blood sugar|\
        blood orange|blood moon|blood cells|blood drive|cold blood|flesh and blood|stab at it|take a stab|\
        stabbing pain|stabbing pains|dead body language|murder mystery|murder mysteries|murder on the dancefloor|\
        execution time|execution plan|execution of the|flawless execution|hurt my feelings|hurt your feelings|\
        butcher shop|local butcher|the butcher",
    ),
    context(
        Role::Harmless,
        "suicide squad|suicide mission|suicide doors|career suicide|political suicide|\
        commercial suicide|suicide prevention|suicide hotline|suicide awareness|prevent suicide|\
        overdose of sugar|end it all off|sex education|sex ed|same sex|same-sex|opposite sex|biological sex|\
        sexual health|sexual orientation|sexual education|sexual harassment training|sexual reproduction|\
        sex chromosomes|safe sex|naked eye|naked truth|naked mole rat|nude lipstick|nude heels|nude color|\
        nude colour|pussy cat|pussy willow|moby dick|dick van dyke|philip k dick|dick clark|cock robin|cock pit|\
        cock-a-doodle-doo|weather cock|half cock|chicken breasts|turkey breasts|breast cancer|lust for life|\
        blood lust for power|lingerie department|hate speech|hate crime|hate crimes|stop hate|hate group|hate groups|\
        love hate|are rats nocturnal|animal rights|shut up and take my money|trash can|trash bin|take out the trash|\
        garbage collector|garbage collection|garbage truck|ugly truth|ugly duckling|ugly sweater|guinea pig|\
        dumb phone|dumb luck|class clown|you are not stupid|don't feel stupid|hurry up and|crystal meth awareness",
    ),
    // Context.
    context(
        Role::Target,
        "you|your|yours|yourself|u|ur|you're|youre|you'll|him|her|them|he|she|they|his|their|those people|\
        this guy|this woman|these people|my wife|my husband|my boss|my neighbor|my neighbour|my teacher|my ex|everyone|\
        everybody|kids|children|students|people",
    ),
    context(
        Role::Group,
        "jew|jews|jewish people|muslim|muslims|christians|hindus|sikhs|black people|blacks|white people|\
        whites|brown people|asians|asian people|arabs|mexicans|latinos|africans|indians|chinese people|immigrants|\
        immigrant|migrants|migrant|refugees|refugee|foreigners|gays|gay people|gay men|lesbians|homosexuals|bisexuals|\
        trans people|trans women|trans men|transgender people|transgenders|women|all men|gypsies|roma people|\
        disabled people|the disabled|this race|that race|those people|their kind",
    ),
    context(
        Role::Intent,
        "i will|i'll|ill|i'm going to|im going to|i am going to|i'm gonna|im gonna|gonna|going to|\
        we will|we'll|we are going to|we're going to|i want to|i wanna|let's|lets|we should|we must|someone should|\
        somebody should|i swear i'll|planning to|i plan to",
    ),
    context(
        Role::Intensifier,
        "really|so|very|such|such a|such an|total|totally|complete|completely|absolute|absolutely|\
        utter|utterly|fucking|damn|goddamn|bloody|freaking|extremely",
    ),
    context(
        Role::Negation,
        "not|never|no|don't|dont|do not|doesn't|doesnt|does not|didn't|didnt|did not|won't|wont|\
        will not|wouldn't|would not|can't|cant|cannot|isn't|isnt|is not|aren't|arent|are not|wasn't|weren't|shouldn't|\
        should not|without|nobody|stop|against",
    ),
    context(
        Role::Distance,
        "news|reported|reports|report|reporter|according to|police|officers|investigation|\
        investigators|arrested|charged with|convicted|trial|court|sentenced|witnesses|victim|victims|survivor|survivors|\
        historian|historians|history|historical|museum|century|war memorial|documentary|article|study|studies|research|\
        researchers|professor|lecture|book|novel|chapter|author|fiction|movie|film|series|episode|season|character|plot|\
        scene|game|gameplay|boss fight|quest|npc|enemy|enemies|level|lyrics|song|prevention|hotline|helpline|awareness|\
        charity|therapist|therapy|counselor|counselling|counseling|support group|doctor|nurse|clinic|patients|medical|\
        health|treatment|symptoms|campaign against|condemn|condemned|condemns|condemning|law|policy|education",
    ),
];
