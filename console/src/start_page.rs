//! The start: leads to the person's first team, or to the instance.

use crate::page::{self, Answer, Area, PageRequest};

pub(crate) async fn show(request: PageRequest) -> Answer {
    let mine = request.mine().await?;
    let mut entrances = mine.entrances.iter();
    let there = match entrances.find_map(|entrance| entrance.team.as_ref()) {
        Some((team, _)) => Area::Team(*team),
        None if mine.entrances.is_empty() => Area::Own,
        None => Area::Instance,
    };
    Ok(page::see_other(there.home()))
}
