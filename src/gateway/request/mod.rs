//! A request as Envoy sends it: its head, its options and its body, read and judged.

mod admission;
mod head;
mod options;
mod read;
mod trail;

pub use self::admission::{Admission, Admitted, admit};
pub(super) use self::{
    admission::named_by_head,
    head::{Headers, RequestHead, trace},
    read::{PARSED_INLINE, ReadRequest, Unread, read},
    trail::Traced,
};
