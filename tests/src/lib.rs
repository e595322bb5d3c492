//! The suites live in `it/`.
