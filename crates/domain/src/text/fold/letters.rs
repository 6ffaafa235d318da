//! What each character folds to, computed once for each block of characters that texts use.

use std::sync::OnceLock;

use icu_properties::props::{EnumeratedProperty as _, Script};
use unicode_normalization::char::{compose, decompose_compatible, is_combining_mark};

use crate::text::confusables::{
    enclosed, is_decoration, is_drawing, latin_in_mixed_word, letter_of, look_alike,
};
use crate::text::invisible_characters::{is_invisible, is_space};
use crate::text::upside_down_letters::is_turned;
use crate::text::word_boundary::is_unspaced;

/// What a character says about the scripts of its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// It ends a word, or can be no part of a word that mixes scripts.
    Between,
    Latin,
    Cyrillic,
    Greek,
    /// Another letter or sign that a Latin letter can be drawn with.
    Drawn,
    Digit,
    /// A mark, or nothing visible: says nothing.
    Inner,
    /// As [`Kind::Drawn`], of a script without spaces.
    DrawnUnspaced,
}

/// What a character folds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Nothing,
    One(char),
    /// Several characters, or one that may join the character before it.
    Other,
}

/// What is known of a character, in one number: what it folds to, a [`Kind`], and two flags.
#[derive(Clone, Copy)]
pub(super) struct Letter(u32);

const CHARACTER: u32 = (1 << 21) - 1;
const NOTHING: u32 = CHARACTER;
const OTHER: u32 = CHARACTER - 1;
const KIND: u32 = 21;
/// It is an upside-down letter, or changes the direction: the text may read otherwise as a whole.
const TURNS: u32 = 1 << 24;
/// See [`is_drawing`].
const DRAWING: u32 = 1 << 25;

/// Characters in a block.
const BLOCK: usize = 128;
const IN_BLOCK: u32 = 0x7F;
/// The characters that have blocks: the first two planes. Others are rare.
const BLOCKS: usize = 0x2_0000 / BLOCK;

impl Letter {
    /// What is known of a character.
    pub(super) fn of(c: char) -> Self {
        static TABLE: [OnceLock<Box<[Letter; BLOCK]>>; BLOCKS] =
            [const { OnceLock::new() }; BLOCKS];
        let number = c as usize;
        let Some(block) = TABLE.get(number / BLOCK) else {
            return Self::computed(c);
        };
        block.get_or_init(|| {
            let mut number = u32::from(c) & !IN_BLOCK;
            Box::new([(); BLOCK].map(|()| {
                // A surrogate is never asked for.
                let c = char::from_u32(number).unwrap_or(' ');
                number += 1;
                Self::computed(c)
            }))
        })[number % BLOCK]
    }

    pub(super) fn form(self) -> Form {
        match self.0 & CHARACTER {
            NOTHING => Form::Nothing,
            OTHER => Form::Other,
            number => char::from_u32(number).map_or(Form::Nothing, Form::One),
        }
    }

    pub(super) const fn kind(self) -> Kind {
        match self.0 >> KIND & 7 {
            1 => Kind::Latin,
            2 => Kind::Cyrillic,
            3 => Kind::Greek,
            4 => Kind::Drawn,
            5 => Kind::Digit,
            6 => Kind::Inner,
            7 => Kind::DrawnUnspaced,
            _ => Kind::Between,
        }
    }

    pub(super) const fn turns(self) -> bool {
        self.0 & TURNS != 0
    }

    pub(super) const fn is_drawing(self) -> bool {
        self.0 & DRAWING != 0
    }

    fn computed(c: char) -> Self {
        let mut whole: Vec<char> = Vec::new();
        let mut first = None;
        parts(c, |part| {
            first = first.or(Some(part));
            let joined = whole.last().filter(|_| may_join(part));
            match joined.and_then(|last| compose(*last, part)) {
                Some(joined) => {
                    whole.pop();
                    whole.push(joined);
                }
                None => whole.push(part),
            }
        });
        let form = match whole[..] {
            [] => NOTHING,
            [one] if !first.is_some_and(may_join) => u32::from(one),
            [..] => OTHER,
        };
        let turns = is_turned(c) || matches!(c, '\u{202D}' | '\u{202E}');
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        Self(
            form | (kind(c, whole.first().copied()) as u32) << KIND
                | flag(turns, TURNS)
                | flag(is_drawing(c), DRAWING),
        )
    }
}

fn kind(c: char, first: Option<char>) -> Kind {
    let Some(first) = first else {
        return Kind::Inner;
    };
    if is_combining_mark(first) {
        return Kind::Inner;
    }
    if first.is_ascii_digit() {
        return Kind::Digit;
    }
    match Script::for_char(c) {
        Script::Cyrillic => Kind::Cyrillic,
        Script::Greek => Kind::Greek,
        _ if first.is_ascii_alphabetic() => Kind::Latin,
        _ if latin_in_mixed_word(first).is_none() => Kind::Between,
        _ if is_unspaced(first) => Kind::DrawnUnspaced,
        _ => Kind::Drawn,
    }
}

/// Whether a part goes back to the character before it: decomposing splits Hangul syllables and voiced
/// kana.
pub(super) fn may_join(part: char) -> bool {
    is_combining_mark(part) || matches!(part, '\u{1160}'..='\u{11FF}')
}

/// Visits what a character folds to, before marks go back to their letters.
pub(super) fn parts(c: char, mut visit: impl FnMut(char)) {
    if is_space(c) {
        visit(' ');
    } else if is_invisible(c) {
    } else if c.is_ascii() {
        visit(c.to_ascii_lowercase());
    } else if let Some(letter) = enclosed(c) {
        visit(letter);
    } else if !look_alikes(c, &mut visit) {
        decompose_compatible(c, |part| {
            if is_decoration(part) || is_invisible(part) {
                return;
            }
            // Both cases of a letter, and all its forms in lower case, fold alike.
            for part in part.to_uppercase().flat_map(char::to_lowercase) {
                if !(is_decoration(part) || look_alikes(part, &mut visit)) {
                    visit(part);
                }
            }
        });
    }
}

/// Visits what a character looks like, if it looks like something else.
fn look_alikes(c: char, visit: &mut impl FnMut(char)) -> bool {
    if let Some(ascii) = look_alike(c) {
        ascii.chars().for_each(visit);
    } else if let Some(letter) = letter_of(c) {
        visit(letter);
    } else {
        return false;
    }
    true
}
