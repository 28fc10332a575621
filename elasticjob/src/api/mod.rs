//! What users implement or receive.
