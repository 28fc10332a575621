//! Jobs that belong together, in a library of their own. They appear in every program that names the library.

mod invoices;
mod reminders;

pub use invoices::Ledger;
