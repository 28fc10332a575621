//! Link-time slices and the catalog of what was linked.
