//! Where a context can go in a request, and the splices that put it there.

pub(crate) mod place;
pub(crate) mod splice;
