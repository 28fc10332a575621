//! The seam to the registry center, its data model and its back ends.
