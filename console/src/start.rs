//! The start: leads to the person's first team.

use std::sync::Arc;

use management::account::mine;

use crate::{page, router::Answer, visit::Visit};

pub(crate) async fn show(visit: Arc<Visit>) -> Answer {
    let (mine, _) = mine::get(&visit.management, visit.session()?).await?;
    let first = mine.entrances.into_iter().next();
    let team = first.and_then(|entrance| entrance.team);
    Ok(page::see_other(page::home(team.map(|(id, _)| id))))
}
