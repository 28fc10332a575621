//! The coordination of one job on one instance as a state machine without I/O. Pure.
