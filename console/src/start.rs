//! The start: leads to the person's first team, or to the instance.

use std::sync::Arc;

use crate::{
    page::{self, At},
    router::Answer,
    visit::Visit,
};

pub(crate) async fn show(visit: Arc<Visit>) -> Answer {
    let mine = visit.mine().await?;
    let mut entrances = mine.entrances.iter();
    let there = match entrances.find_map(|entrance| entrance.team.as_ref()) {
        Some((team, _)) => At::Team(*team),
        None if mine.entrances.is_empty() => At::Own,
        None => At::Instance,
    };
    Ok(page::see_other(there.home()))
}
