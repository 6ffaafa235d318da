//! The workers of chains: see [`store::chain`] for what a chain is.

use apalis::prelude::{BoxDynError, Data};
use queue::{Effect, Finish};
use store::chain::Chain;

/// Does the slices of one kind of chain.
pub(crate) trait ChainWorker: Clone + Send + Sync + 'static {
    /// The chain.
    type Chain: Chain;

    /// What a slice found. Its effect records that, and enqueues the job for the next slice.
    type Found: Effect;

    /// Does the next slice. The effect is none when the chain has ended, or when the slice has to wait.
    fn next(
        &self,
        job: <Self::Chain as Chain>::Job,
    ) -> impl Future<Output = Result<Finish<Option<Self::Found>>, BoxDynError>> + Send;
}

/// Runs one job of a chain.
pub(crate) async fn slice<S: ChainWorker>(
    job: <S::Chain as Chain>::Job,
    worker: Data<S>,
) -> Result<Finish<Option<S::Found>>, BoxDynError> {
    worker.next(job).await
}
