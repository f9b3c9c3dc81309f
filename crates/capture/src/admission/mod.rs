//! Admission: the one check that every text passes before it is stored. It refuses secrets, orders to the model, and
//! text that the user does not want stored. Messages and replies are checked before the journal, candidates and
//! summaries before the store, and content from the API before the store.

mod candidate;
mod memory;
mod name;
mod text;

pub(crate) use candidate::{Dropped, admit_candidate};
pub use memory::{
    Author, NotAdmitted, OrdersToModel, admit_memory, admit_text, may_become_memory, prepare,
};
pub use name::{SecretName, admit_members, admit_name, admit_value};
pub use text::Refusal;
pub(crate) use text::{Admitted, admit, admit_reply, of_speaker};
