//! The edge: drives engines, performs their actions.
