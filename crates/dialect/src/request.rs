//! A request as memory sees it: the ask, and the plan of edits. It must never judge the ask nor
//! know what a context says.

use crate::{
    Dialect,
    ask::Ask,
    chat,
    edits::{Edits, remove_members},
    error::ReadError,
    json::{Node, Object},
    options::{FIELDS, MemoryOptions},
    responses,
    seats::{Layout, Placed, Placement, Splice},
};

/// A request that was read. Holds no part of the body itself, only places in it.
pub struct Request {
    ask: Ask,
    removals: Vec<Splice>,
    layout: Layout,
}

/// Reads a request body (plain, not compressed).
///
/// A key that is written twice counts as it stands last. `null` counts as absent everywhere.
///
/// # Errors
/// See [`ReadError`]; a body that cannot be read is `Unreadable` even if a field of ours is wrong.
pub fn read(dialect: Dialect, body: &[u8]) -> Result<Request, ReadError> {
    let document = Node::document(body).ok_or(ReadError::Unreadable("the body is not JSON"))?;
    let root = document.object().ok_or(ReadError::Unreadable("the body is not a JSON object"))?;
    let mut ask = common(&root);
    let layout = match dialect {
        Dialect::Chat => chat::read(&root, &mut ask)?,
        Dialect::Responses => responses::read(&root, &mut ask, &FIELDS)?,
    };
    ask.options = MemoryOptions::read(&root)?;
    Ok(Request { ask, removals: remove_members(&root, &FIELDS), layout })
}

impl Request {
    /// The ask of the request.
    pub fn ask(&self) -> &Ask {
        &self.ask
    }

    /// The edits that take our fields out and, if one is given, put a context in.
    ///
    /// The context stands where it was asked for, with one exception: [`Placement::System`] becomes
    /// [`Placement::BeforeLastUser`] in a Responses request that names a stored `prompt` and gives
    /// no `instructions`, since instructions would displace those of the prompt. A request without
    /// the place asked for (no user message, no messages at all, a content of an unknown kind)
    /// gets no context: [`Placed::Nowhere`].
    pub fn plan(&self, context: Option<(&str, Placement)>) -> Edits {
        let (mut splices, placed) = match context {
            Some((text, placement)) if !text.is_empty() => self.layout.place(text, placement),
            _ => (Vec::new(), Placed::NotAsked),
        };
        splices.extend(self.removals.iter().cloned());
        Edits::new(splices, placed)
    }
}

/// The fields both dialects have. Odd types are the upstream's business.
fn common(root: &Object<'_>) -> Ask {
    // An id must not become another one by replacing what is no Unicode in it.
    let id = |within: &Object<'_>, key: &str| within.get(key)?.strict_str().map(String::from);
    let metadata = root.object("metadata");
    Ask {
        model: root.string("model"),
        stream: root.bool("stream").unwrap_or(false),
        metadata_user_id: metadata.as_ref().and_then(|metadata| id(metadata, "user_id")),
        metadata_session_id: metadata.as_ref().and_then(|metadata| id(metadata, "session_id")),
        user: id(root, "user"),
        ..Ask::default()
    }
}
