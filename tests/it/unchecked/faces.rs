//! Everything else that tells an outcome: the answer of the submission, the status, the event, `gatehouse submit`, the export, a
//! backtest, statistics, and the pages of people.
