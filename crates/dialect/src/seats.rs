//! Finds the place of a context in a request, and makes the splices that insert it. It does not
//! depend on the dialect or on the text of the context: the readers pass the possible seats.

use std::ops::Range;

use crate::json::{Node, escaped};

/// A range of the body and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) range: Range<usize>,
    pub(crate) with: String,
}

impl Splice {
    pub(crate) fn insert(at: usize, with: String) -> Self {
        Self { range: at..at, with }
    }

    pub(crate) fn remove(range: Range<usize>) -> Self {
        Self { range, with: String::new() }
    }
}

/// Where the context is to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Placement {
    /// At the end of the first system or developer message, or in a new first one; in Responses at
    /// the end of `instructions`.
    #[default]
    System,
    /// In a user message of its own before the last user message. A user message, because many chat
    /// templates refuse a system message that is not the first; templates that demand strictly
    /// alternating roles refuse this one too, so those models need another placement.
    BeforeLastUser,
    /// In the last user message, before its own text.
    LastUser,
}

/// A text that can be added to.
pub(crate) enum TextSeat {
    /// A string literal: the places just inside its quotes.
    Literal(Range<usize>),
    /// An array of parts: just after its bracket, and after its last element.
    Parts { inside: Range<usize>, empty: bool, part_type: &'static str },
}

impl TextSeat {
    /// The seat a message's content offers; `None` for `null` and what is no content.
    pub(crate) fn of(content: Node<'_>, part_type: &'static str) -> Option<Self> {
        let Range { start, end } = content.span();
        if content.is_string() {
            return Some(Self::Literal(start + 1..end - 1));
        }
        let parts = content.elements()?;
        let last = parts.last().map_or(start + 1, |part| part.span().end);
        Some(Self::Parts { inside: start + 1..last, empty: parts.is_empty(), part_type })
    }

    fn append(&self, context: &str) -> Splice {
        match self {
            Self::Literal(inside) => {
                let gap = if inside.is_empty() { "" } else { GAP };
                Splice::insert(inside.end, escaped(&format!("{gap}{context}")))
            }
            Self::Parts { inside, empty: true, part_type } => {
                Splice::insert(inside.end, part(part_type, context))
            }
            Self::Parts { inside, empty: false, part_type } => {
                // Some servers join parts with nothing between them.
                Splice::insert(
                    inside.end,
                    format!(",{}", part(part_type, &format!("{GAP}{context}"))),
                )
            }
        }
    }

    fn prepend(&self, context: &str) -> Splice {
        match self {
            Self::Literal(inside) => {
                let gap = if inside.is_empty() { "" } else { GAP };
                Splice::insert(inside.start, escaped(&format!("{context}{gap}")))
            }
            Self::Parts { inside, empty: true, part_type } => {
                Splice::insert(inside.start, part(part_type, context))
            }
            Self::Parts { inside, empty: false, part_type } => Splice::insert(
                inside.start,
                format!("{},", part(part_type, &format!("{context}{GAP}"))),
            ),
        }
    }
}

/// Between a context and somebody's own text.
const GAP: &str = "\n\n";

fn part(part_type: &str, text: &str) -> String {
    format!(r#"{{"type":"{part_type}","text":"{}"}}"#, escaped(text))
}

fn message(role: &str, context: &str) -> String {
    format!(r#"{{"role":"{role}","content":"{}"}}"#, escaped(context))
}

/// The place that [`Placement::System`] finds.
pub(crate) enum SystemSeat {
    /// A text to append to.
    Text(TextSeat),
    /// The front of a list of messages that is not empty.
    NewMessage { at: usize },
    /// No `instructions`: a new member goes to the front of the object.
    NewInstructions { at: usize, alone: bool },
    /// `instructions` is `null`: the value is replaced.
    NullInstructions(Range<usize>),
    /// Writing `instructions` would displace the text of a stored prompt.
    Taken,
    /// There is nothing to add to.
    Nowhere,
}

/// The last user message.
pub(crate) enum UserSeat {
    /// An element of a list: its start, and its text if it can be added to.
    Message { start: usize, text: Option<TextSeat> },
    /// The whole input is one string literal (quotes included).
    Input(Range<usize>),
}

/// The seats of one request.
pub(crate) struct Layout {
    pub(crate) system: SystemSeat,
    pub(crate) user: Option<UserSeat>,
}

impl Layout {
    /// The splices that put a context at a placement, and where it came to stand.
    pub(crate) fn place(&self, context: &str, placement: Placement) -> (Vec<Splice>, Placed) {
        let splices = match placement {
            Placement::System => match &self.system {
                SystemSeat::Text(seat) => vec![seat.append(context)],
                SystemSeat::NewMessage { at } => {
                    vec![Splice::insert(*at, format!("{},", message("system", context)))]
                }
                SystemSeat::NewInstructions { at, alone } => {
                    let comma = if *alone { "" } else { "," };
                    let member = format!(r#""instructions":"{}"{comma}"#, escaped(context));
                    vec![Splice::insert(*at, member)]
                }
                SystemSeat::NullInstructions(range) => {
                    vec![Splice {
                        range: range.clone(),
                        with: format!(r#""{}""#, escaped(context)),
                    }]
                }
                SystemSeat::Taken => return self.place(context, Placement::BeforeLastUser),
                SystemSeat::Nowhere => Vec::new(),
            },
            Placement::BeforeLastUser => match &self.user {
                Some(UserSeat::Message { start, .. }) => {
                    vec![Splice::insert(*start, format!("{},", message("user", context)))]
                }
                Some(UserSeat::Input(literal)) => vec![
                    Splice::insert(
                        literal.start,
                        format!(r#"[{},{{"role":"user","content":"#, message("user", context)),
                    ),
                    Splice::insert(literal.end, "}]".to_owned()),
                ],
                None => Vec::new(),
            },
            Placement::LastUser => match &self.user {
                Some(UserSeat::Message { text: Some(seat), .. }) => vec![seat.prepend(context)],
                Some(UserSeat::Input(literal)) => {
                    vec![TextSeat::Literal(literal.start + 1..literal.end - 1).prepend(context)]
                }
                Some(UserSeat::Message { text: None, .. }) | None => Vec::new(),
            },
        };
        let placed = if splices.is_empty() { Placed::Nowhere } else { Placed::At(placement) };
        (splices, placed)
    }
}

/// Where a plan puts the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// No context was given.
    NotAsked,
    /// At this placement (not always the placement asked for, see [`crate::Request::plan`]).
    At(Placement),
    /// The request has no place for it; the edits only remove our fields.
    Nowhere,
}
