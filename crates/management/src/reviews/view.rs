//! What a person sees of a review.

use domain::id::ReviewId;
use store::review::{self, AuthorHistory, Note, Review};

use crate::{Management, Refused, Session, media::previews};

/// A review with what is known around it.
#[derive(Debug)]
pub struct ReviewView {
    /// The review.
    pub review: Review,
    /// What became of earlier items of its author. `None`: the item has no author.
    pub author: Option<AuthorHistory>,
    /// What the team's people have noted about the item, the oldest note first.
    pub notes: Vec<Note>,
    /// Why there is no preview of its image, as far as it is known before one is made.
    pub unseen: Option<Refused>,
}

impl ReviewView {
    /// The review; none if it has ended.
    pub(super) async fn of(
        management: &Management,
        session: &mut Session,
        review: ReviewId,
    ) -> Result<Option<Self>, Refused> {
        let conn = session.conn();
        let Some(review) = review::view(conn, review).await? else {
            return Ok(None);
        };
        let only = (!review.shows_all_notes()).then_some(review.id);
        Ok(Some(Self {
            author: AuthorHistory::of(conn, &review).await?,
            notes: if review.has_notes {
                review::notes_of(conn, review.media, only).await?
            } else {
                Vec::new()
            },
            unseen: previews::obstacle_of(management, review.content_type, review.image),
            review,
        }))
    }
}
