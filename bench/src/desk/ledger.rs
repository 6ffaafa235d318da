//! Who got which review. Every claimed review is decided at once, so none may come twice.

use std::{cell::RefCell, collections::HashMap};

use anyhow::ensure;
use sqlx::PgConnection;
use uuid::Uuid;

/// Every review that was claimed, and who got it.
#[derive(Default)]
pub(super) struct Ledger {
    claimed: RefCell<HashMap<Uuid, Uuid>>,
    twice: RefCell<Vec<Uuid>>,
}

impl Ledger {
    /// Somebody has claimed a review.
    pub(super) fn enter(&self, review: Uuid, person: Uuid) {
        let before = self.claimed.borrow_mut().insert(review, person);
        if before.is_some() {
            self.twice.borrow_mut().push(review);
        }
    }

    /// How many reviews were claimed.
    pub(super) fn claimed(&self) -> usize {
        self.claimed.borrow().len()
    }

    /// How many of them were claimed again.
    pub(super) fn claimed_by_two(&self) -> usize {
        self.twice.borrow().len()
    }

    /// Compares it with the database: the person who got a review decided it, and nobody else.
    ///
    /// # Errors
    /// A decision is missing, is there twice, or is somebody else's.
    pub(super) async fn compare(&self, conn: &mut PgConnection) -> anyhow::Result<()> {
        let rows: Vec<(Uuid, Uuid)> =
            sqlx::query_as("select task_id, actor_id from review_opinions")
                .fetch_all(conn)
                .await?;
        let claimed = self.claimed.borrow();
        ensure!(
            rows.len() == claimed.len(),
            "{} reviews were claimed, and {} decisions are there",
            claimed.len(),
            rows.len()
        );
        for (review, person) in rows {
            ensure!(
                claimed.get(&review) == Some(&person),
                "{review} was decided by somebody who did not have it"
            );
        }
        Ok(())
    }
}
