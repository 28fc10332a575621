//! Runs the items of a fire.
