//! The start: leads to the person's first team.

use std::sync::Arc;

use management::account::mine;

use crate::{
    page::{self, At},
    router::Answer,
    visit::Visit,
};

pub(crate) async fn show(visit: Arc<Visit>) -> Answer {
    let owner = mine::get(&visit.management, visit.session()?).await?;
    let first = owner.mine.entrances.into_iter().next();
    let there = first.map_or(At::Own, |entrance| match entrance.team {
        Some((team, _)) => At::Team(team),
        None => At::Instance,
    });
    Ok(page::see_other(there.home()))
}
