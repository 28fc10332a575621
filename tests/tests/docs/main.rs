//! Tests of the documents against the code, and of the house rules.

mod circles;
mod faults;
mod first_lines;
mod house_rules;
mod java_compat;
mod manual_names;
mod packages;
mod readme;
mod registry_layout;
mod settings_reference;
mod state_machine;
