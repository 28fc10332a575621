//! What the documents say holds in the code, and the rules of the house.

mod circles;
mod house_rules;
mod java_compat;
mod manual_names;
mod readme;
mod registry_layout;
mod settings_reference;
mod state_machine;
