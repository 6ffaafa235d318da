//! All SQL of Gatehouse: one function per statement, one transaction per step.
