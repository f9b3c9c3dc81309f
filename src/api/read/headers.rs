//! Headers that an operation reads beside its members, each of them optional.

use std::{fmt, marker::PhantomData, str::FromStr};

use axum::extract::Request;
use utoipa::openapi::{
    Object, Type,
    path::{ParameterBuilder, ParameterIn},
    schema::SchemaType,
};

use crate::api::{
    ApiError,
    read::{
        description::Description,
        input::{Input, Sent},
    },
};

/// A header of a request, as its text.
pub trait Header: FromStr<Err = &'static str> + fmt::Display + Send {
    /// Its name.
    const NAME: &'static str;
    /// Its use.
    const DOC: &'static str;
}

/// The request may have the header `H`, beside the members of `I`.
pub struct Headed<H, I>(PhantomData<(H, I)>);

/// A request and its header.
pub struct WithHeader<H, T> {
    /// The header, if it was sent.
    pub header: Option<H>,
    /// The rest of the request.
    pub request: T,
}

impl<H, T> WithHeader<H, T> {
    /// A request without the header.
    #[must_use]
    pub fn without(request: T) -> Self {
        Self { header: None, request }
    }
}

impl<H: Header, I: Input> Input for Headed<H, I> {
    type Request = WithHeader<H, I::Request>;

    fn check_query_of_write(from: &Request) -> Result<(), ApiError> {
        I::check_query_of_write(from)
    }

    async fn read(from: Request) -> Result<Self::Request, ApiError> {
        let sent = from.headers().get(H::NAME).map(|value| value.to_str().unwrap_or_default());
        let header = sent.map(str::parse).transpose();
        let header = header.map_err(|cause| ApiError::invalid(H::NAME, cause))?;
        Ok(WithHeader { header, request: I::read(from).await? })
    }

    async fn write(WithHeader { header, request }: Self::Request) -> Result<Sent, ApiError> {
        let mut sent = I::write(request).await?;
        sent.headers.extend(header.map(|value| (H::NAME, value.to_string())));
        Ok(sent)
    }

    fn describe(description: &mut Description) {
        I::describe(description);
        let header = ParameterBuilder::new()
            .name(H::NAME)
            .parameter_in(ParameterIn::Header)
            .description(Some(H::DOC))
            .schema(Some(Object::with_type(SchemaType::new(Type::String))));
        description.parameters.push(header.build());
    }
}

/// The version of a memory as an entity tag: the version in quotation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IfMatch(pub u32);

impl Header for IfMatch {
    const NAME: &'static str = "If-Match";
    const DOC: &'static str =
        "The `ETag` of the memory that the caller has read. Default: any version.";
}

impl FromStr for IfMatch {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let tag = text.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let version = tag.and_then(|tag| tag.parse().ok());
        version.map(Self).ok_or("must be the ETag of a memory, such as \"3\"")
    }
}

impl fmt::Display for IfMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

/// A text of the caller's that is the same when a request is sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Maximum length, in bytes.
    const MAX: usize = 255;

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Header for IdempotencyKey {
    const NAME: &'static str = "Idempotency-Key";
    const DOC: &'static str = "A text that is the same when the request is sent again, such as a UUID: the memory is stored \
         once. Of 1 to 255 printable ASCII characters, good for at least 24 hours.";
}

impl FromStr for IdempotencyKey {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits =
            (1..=Self::MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            Err("must have 1 to 255 printable ASCII characters")
        }
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
