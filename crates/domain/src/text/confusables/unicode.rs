//! Look-alikes of letters, from the data of UTS 39, Unicode 18.0. Made by `tests/confusables.rs`.
//!
//! Copyright © 1991-2026 Unicode, Inc. Used under the Unicode License v3 (Unicode-3.0).

/// Latin letters, and letters of scripts with few readers, by the Latin letter that they look like.
#[rustfmt::skip]
pub(super) const ALWAYS: [(char, &str); 26] = [
    ('a', "\u{251}\u{15c5}\u{a4ee}\u{ab64}\u{ab7a}\u{102a0}\u{16f40}\u{1df40}\u{1df41}\u{1df5a}\u{1df6a}"),
    ('b', "\u{180}\u{183}\u{185}\u{253}\u{7d5}\u{13fc}\u{1472}\u{1473}\u{15af}\u{15f7}\u{2c83}\u{a4d0}\u{a557}\u{a7b5}\u{ab9f}\u{10282}\u{102a1}\u{10301}\u{1031c}\u{16ed1}"),
    ('c', "\u{23c}\u{1d04}\u{2ca5}\u{a4da}\u{abaf}\u{102a2}\u{10302}\u{1043d}\u{1051b}\u{118e9}\u{118f2}"),
    ('d', "\u{f0}\u{111}\u{18c}\u{256}\u{257}\u{146f}\u{15de}\u{15ea}\u{a4d2}\u{a4d3}\u{ab70}\u{abb7}\u{1df2d}"),
    ('e', "\u{247}\u{2d39}\u{a4f0}\u{a5cb}\u{ab32}\u{ab7c}\u{10286}\u{118c6}\u{118ce}\u{1df81}"),
    ('f', "\u{192}\u{284}\u{7d3}\u{15b4}\u{1d6e}\u{1e9d}\u{a4dd}\u{a799}\u{ab35}\u{10287}\u{102a5}\u{10525}\u{118c2}"),
    ('g', "\u{18d}\u{1e5}\u{260}\u{261}\u{13fb}\u{1d83}\u{a4d6}\u{ab90}\u{1df45}"),
    ('h', "\u{127}\u{266}\u{13fa}\u{157c}\u{2c68}\u{2c8f}\u{a4e7}\u{ab8b}\u{ab92}\u{102cf}\u{1df32}\u{1df46}\u{1df47}"),
    ('i', "\u{131}\u{268}\u{269}\u{26a}\u{1d7b}\u{1d7c}\u{2c93}\u{ab75}\u{118c3}"),
    ('j', "\u{237}\u{249}\u{25f}\u{29d}\u{148d}\u{a4d9}\u{ab7b}"),
    ('k', "\u{199}\u{16d5}\u{2c6a}\u{2c95}\u{a4d7}\u{a741}\u{abb6}\u{10518}\u{1df48}\u{1df49}"),
    ('l', "\u{142}\u{19a}\u{1c0}\u{26b}\u{26d}\u{7ca}\u{14aa}\u{16c1}\u{16c5}\u{16d0}\u{2cd1}\u{2d4a}\u{2d4f}\u{a4e1}\u{a4f2}\u{a56f}\u{a781}\u{a7fe}\u{a8ce}\u{aa5d}\u{abae}\u{1028a}\u{10309}\u{10320}\u{10443}\u{1050e}\u{10526}\u{10926}\u{10c3e}\u{10ce5}\u{10cfa}\u{11047}\u{110c0}\u{11141}\u{111c5}\u{113d4}\u{1144b}\u{115c5}\u{11641}\u{118d2}\u{11c41}\u{11dda}\u{11de1}\u{16ae4}\u{16d63}\u{16ec5}\u{16f16}\u{16f28}\u{1df6e}\u{1e141}\u{1e8c7}"),
    ('m', "\u{271}\u{15f0}\u{16d6}\u{1d6f}\u{2c99}\u{a4df}\u{ab51}\u{ab87}\u{102b0}\u{10311}\u{10c21}\u{11700}\u{118e3}\u{1df4a}\u{1df4b}\u{1df4c}"),
    ('n', "\u{14b}\u{19e}\u{272}\u{273}\u{1d70}\u{2c9b}\u{a4e0}\u{10513}\u{11abe}\u{1df4d}\u{1df4e}\u{1df4f}"),
    ('o', "\u{f8}\u{275}\u{3ed}\u{7c0}\u{7cb}\u{840}\u{1a45}\u{1a80}\u{1a90}\u{1d0f}\u{1d11}\u{2c91}\u{2c9f}\u{2d31}\u{2d41}\u{2d54}\u{a4f3}\u{a6a2}\u{a74b}\u{ab3d}\u{ab3e}\u{ab74}\u{ab8e}\u{abbb}\u{10292}\u{102ab}\u{1030f}\u{1042c}\u{104ea}\u{10516}\u{1051e}\u{1092c}\u{10c17}\u{10d07}\u{11124}\u{114d0}\u{118c8}\u{118d5}\u{118d7}\u{118e0}\u{11de0}\u{1699b}\u{16ae9}\u{16e80}\u{1df3c}\u{1e140}\u{1e2f0}"),
    ('p', "\u{1a5}\u{1bf}\u{146d}\u{1d7d}\u{2ca3}\u{2ccf}\u{a4d1}\u{abb2}\u{10295}"),
    ('q', "\u{2a0}\u{2d55}\u{1df34}"),
    ('r', "\u{24d}\u{27c}\u{27d}\u{280}\u{1587}\u{1d72}\u{2c85}\u{a4e3}\u{ab47}\u{ab48}\u{ab71}\u{ab81}\u{aba2}\u{104dc}\u{16a19}\u{16f35}\u{1df37}"),
    ('s', "\u{1bd}\u{282}\u{1d74}\u{a4e2}\u{a576}\u{a731}\u{aba5}\u{abaa}\u{10296}\u{10448}\u{118c1}\u{16ad6}\u{16f3a}"),
    ('t', "\u{167}\u{1ab}\u{1ad}\u{288}\u{7e0}\u{1d75}\u{2c66}\u{2ca7}\u{a4d4}\u{a50b}\u{ab72}\u{ab8f}\u{10297}\u{102b1}\u{10315}\u{16f0a}"),
    ('u', "\u{289}\u{28b}\u{144c}\u{1d1c}\u{1d7e}\u{a4f4}\u{a79f}\u{ab4e}\u{ab52}\u{ab9c}\u{104f6}\u{118d8}\u{16f42}\u{1df39}"),
    ('v', "\u{142f}\u{1d20}\u{2d38}\u{a4e6}\u{a6df}\u{aba9}\u{1051d}\u{10c1f}\u{11706}\u{118c0}\u{16f08}\u{1df51}\u{1df52}\u{1e145}"),
    ('w', "\u{26f}\u{1d21}\u{2cbd}\u{a4ea}\u{a761}\u{a7fa}\u{ab83}\u{aba4}\u{114c5}\u{1170a}\u{1170e}\u{1170f}\u{118e6}\u{118ef}\u{1df3f}\u{1df7d}"),
    ('x', "\u{1541}\u{157d}\u{166d}\u{166e}\u{16b7}\u{1763}\u{2cad}\u{2d5d}\u{a4eb}\u{ab53}\u{10290}\u{102b4}\u{10317}\u{10322}\u{10527}\u{10c13}\u{10cc2}\u{10cfc}\u{118ec}"),
    ('y', "\u{1b4}\u{24f}\u{263}\u{28f}\u{7cc}\u{1d8c}\u{1eff}\u{2ca9}\u{a4ec}\u{a6b2}\u{ab5a}\u{ab79}\u{ab8d}\u{102b2}\u{10c20}\u{118c4}\u{118dc}\u{16f43}\u{1df31}\u{1df55}"),
    ('z', "\u{1b6}\u{225}\u{290}\u{1d22}\u{1d76}\u{2c6c}\u{2c8d}\u{a4dc}\u{a6c9}\u{ab93}\u{10507}\u{118c9}\u{118e5}\u{11abc}"),
];

/// Letters and signs of other scripts, by the Latin letter that they look like.
#[rustfmt::skip]
pub(super) const MIXED: [(char, &str); 26] = [
    ('a', "\u{3b1}\u{430}\u{2376}\u{237a}"),
    ('b', "\u{3b2}\u{431}\u{432}\u{44c}\u{463}\u{48d}\u{1c80}\u{1c87}\u{1d207}"),
    ('c', "\u{a2}\u{441}\u{4ab}\u{1004}\u{105a}\u{1c83}\u{1d134}\u{1f74c}"),
    ('d', "\u{501}\u{20ab}\u{1018b}"),
    ('e', "\u{3b5}\u{435}\u{4bd}\u{4bf}\u{212e}\u{22ff}"),
    ('f', "\u{3dd}\u{584}\u{1017e}\u{1d213}"),
    ('g', "\u{50d}\u{581}"),
    ('h', "\u{43d}\u{45b}\u{4a3}\u{4bb}\u{4c8}\u{4ca}\u{570}\u{2d19}\u{a695}"),
    ('i', "\u{a1}\u{3b9}\u{456}\u{582}\u{2373}\u{2378}\u{a647}"),
    ('j', "\u{3f3}\u{458}\u{575}"),
    ('k', "\u{3ba}\u{43a}\u{49b}\u{49f}\u{20ad}"),
    ('l', "\u{4cf}\u{5c0}\u{5d5}\u{5df}\u{627}\u{661}\u{6f1}\u{964}\u{104a}\u{21bf}\u{2223}\u{23fd}\u{2502}\u{2503}\u{a830}\u{1d100}\u{1d22a}\u{1d377}\u{1ed01}"),
    ('m', "\u{3bc}\u{3fb}\u{43c}\u{4ce}\u{560}\u{20a5}"),
    ('n', "\u{3b7}\u{572}\u{578}\u{57c}\u{1018e}"),
    ('o', "\u{3b8}\u{3bf}\u{3c3}\u{43e}\u{473}\u{4e9}\u{585}\u{5e1}\u{629}\u{647}\u{665}\u{6be}\u{6c1}\u{6c3}\u{6d5}\u{6f5}\u{6ff}\u{966}\u{9e6}\u{a66}\u{ae6}\u{b20}\u{b66}\u{be6}\u{c66}\u{ce6}\u{d20}\u{d66}\u{e50}\u{ed0}\u{101d}\u{1040}\u{10ff}\u{12d0}\u{1340}\u{17e0}\u{1c82}\u{2205}\u{2296}\u{229d}\u{2300}\u{2365}\u{236c}\u{3007}\u{1d21a}\u{1f714}"),
    ('p', "\u{3c1}\u{3f8}\u{440}\u{2374}"),
    ('q', "\u{51b}\u{563}\u{566}"),
    ('r', "\u{433}\u{493}\u{1d26}\u{1d216}"),
    ('s', "\u{455}\u{57f}\u{d1f}\u{10fd}\u{2d1d}"),
    ('t', "\u{3c4}\u{442}\u{4ad}\u{1c84}\u{1c85}\u{22a4}\u{2361}\u{27d9}\u{3112}\u{4e05}\u{a68d}\u{1d373}\u{1f768}"),
    ('u', "\u{3c5}\u{45f}\u{57d}\u{1200}\u{222a}\u{22c3}"),
    ('v', "\u{3bd}\u{475}\u{5d8}\u{667}\u{6f7}\u{2228}\u{22c1}\u{10197}\u{1cefc}\u{1d20d}"),
    ('w', "\u{448}\u{461}\u{51d}\u{561}\u{20a9}\u{29e2}\u{1d20c}"),
    ('x', "\u{d7}\u{3c7}\u{445}\u{4b3}\u{1cf5}\u{2573}\u{292b}\u{292c}\u{2a2f}\u{2a30}\u{10196}"),
    ('y', "\u{a5}\u{3b3}\u{443}\u{4af}\u{4b1}\u{10e7}\u{311a}\u{4e2b}"),
    ('z', "\u{3b6}\u{2d2d}\u{102f5}"),
];

/// Arabic letters that differ only in their form or in the language, by the first of them.
#[rustfmt::skip]
pub(super) const ARABIC: [(char, &str); 7] = [
    ('\u{62a}', "\u{67a}"),
    ('\u{641}', "\u{6a7}"),
    ('\u{643}', "\u{6a9}\u{6aa}"),
    ('\u{646}', "\u{10ec6}"),
    ('\u{647}', "\u{6be}\u{6c1}\u{6d5}"),
    ('\u{648}', "\u{8b1}"),
    ('\u{649}', "\u{64a}\u{66e}\u{6ba}\u{6cc}\u{6d2}\u{8bd}"),
];
