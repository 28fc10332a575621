//! The configuration of a job: valid by construction, and as the registry stores it.
