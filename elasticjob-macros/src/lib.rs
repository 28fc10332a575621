//! The `#[elastic_job]` attribute.
