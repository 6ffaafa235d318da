//! The trace that the running task works for. Every log line of the task names it.

use std::sync::{Arc, OnceLock};

use super::{
    context::{Context, NOBODY, Step},
    sink::is_sampled_by_chance,
};

tokio::task_local! {
    static CURRENT: Current;
}

/// The step that a task works for. A request has one from the beginning, or makes one when it is
/// needed; a job has one as soon as its item is loaded. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Current {
    step: Arc<OnceLock<Step>>,
    makes_one: bool,
}

impl Current {
    /// Of a request: the step after the caller's, or a new trace.
    pub fn of_request(caller: Option<Context>) -> Self {
        let step = OnceLock::new();
        if let Some(caller) = caller {
            let _ = step.set(Step::after(caller, NOBODY));
        }
        Self {
            step: Arc::new(step),
            makes_one: true,
        }
    }

    /// Of work whose trace is known.
    pub fn of(step: Step) -> Self {
        Self {
            step: Arc::new(OnceLock::from(step)),
            makes_one: false,
        }
    }

    /// The step, if it is known.
    pub fn get(&self) -> Option<Step> {
        if self.makes_one {
            return Some(*self.step.get_or_init(begin));
        }
        self.step.get().copied()
    }

    /// Runs a task for it.
    pub async fn scope<F: Future>(self, task: F) -> F::Output {
        CURRENT.scope(self, task).await
    }

    /// Runs a function for it, such as one that logs.
    pub fn sync_scope<T>(self, function: impl FnOnce() -> T) -> T {
        CURRENT.sync_scope(self, function)
    }
}

fn begin() -> Step {
    Step::first(by_chance(Context::begin()))
}

/// A trace that begins here is recorded or not, by chance.
fn by_chance(first: Context) -> Context {
    if is_sampled_by_chance() {
        first.sampled()
    } else {
        first
    }
}

/// The step that the running task works for.
pub fn current() -> Option<Step> {
    CURRENT.try_with(Current::get).ok().flatten()
}

/// From now on, the running task works for the step after this one, unless it has one already.
pub fn enter(parent: Context, team: [u8; 16]) {
    let _ = CURRENT.try_with(|current| current.step.set(Step::after(parent, team)));
}

/// The step that the running task works for. If it has none so far, it begins the trace with
/// `first`.
pub fn adopt(first: impl FnOnce() -> Context) -> Step {
    let adopted = |current: &Current| current.step.get().copied();
    if let Some(step) = CURRENT.try_with(adopted).ok().flatten() {
        return step;
    }
    let first = Step::first(by_chance(first()));
    CURRENT
        .try_with(|current| *current.step.get_or_init(|| first))
        .unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> Context {
        Context::of_item([7; 16])
    }

    #[tokio::test]
    async fn a_request_continues_its_callers_trace() {
        let request = Current::of_request(Some(context()));
        request
            .scope(async {
                let step = current().unwrap();
                assert_eq!(step.parent, Some(context().span()));
                assert_eq!(step.context.trace(), context().trace());
                assert_eq!(adopt(|| unreachable!()), step);
            })
            .await;
        assert_eq!(current(), None);
    }

    #[tokio::test]
    async fn a_request_without_a_trace_takes_its_items_unless_it_has_made_one() {
        let request = Current::of_request(None);
        let adopted = request.clone().scope(async { adopt(context) }).await;
        assert_eq!(adopted, Step::first(context()));
        assert_eq!(request.get(), Some(adopted));

        let request = Current::of_request(None);
        let made = request.get();
        let adopted = request.scope(async { adopt(context) }).await;
        assert_eq!(Some(adopted), made);
        assert_ne!(adopted.context, context());
    }

    #[tokio::test]
    async fn a_job_has_a_trace_once_its_item_is_known() {
        Current::default()
            .scope(async {
                assert_eq!(current(), None);
                enter(context(), [1; 16]);
                assert_eq!(current().unwrap().parent, Some(context().span()));
            })
            .await;
    }
}
