//! The OpenAPI description of one operation, to which its input and its output add their parts.

use utoipa::{
    ToSchema,
    openapi::{
        Content, Object, Ref, RefOr, Required, Response, ResponseBuilder, Schema, Type,
        path::{Parameter, ParameterBuilder, ParameterIn},
        request_body::{RequestBody, RequestBodyBuilder},
        schema::SchemaType,
    },
};

/// Content type of requests and answers that are one JSON value.
pub(in crate::api) const JSON: &str = "application/json";
/// Content type of exports.
pub(in crate::api) const JSON_LINES: &str = "application/x-ndjson";

/// Content type of streams of events.
const EVENTS: &str = "text/event-stream";

/// The description of an operation.
pub struct Description {
    path: &'static str,
    pub(in crate::api) parameters: Vec<Parameter>,
    pub(in crate::api) body: Option<RequestBody>,
    /// Schemas that the rest refers to.
    pub(in crate::api) schemas: Vec<(String, RefOr<Schema>)>,
}

impl Description {
    pub(in crate::api) fn of(path: &'static str) -> Self {
        Self { path, parameters: Vec::new(), body: None, schemas: Vec::new() }
    }

    /// Adds the id in the path.
    pub(super) fn id(&mut self) {
        let (_, rest) = self.path.split_once('{').unwrap_or_default();
        let (name, _) = rest.split_once('}').unwrap_or_default();
        let id = ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .description(Some("Its id"))
            .schema(Some(text()));
        self.parameters.push(id.build());
    }

    /// Adds a JSON body.
    pub(super) fn json_body<T: ToSchema>(&mut self) {
        let content = Content::new(Some(self.refer::<T>()));
        let body = RequestBodyBuilder::new().content(JSON, content);
        self.body = Some(body.required(Some(Required::True)).build());
    }

    /// Adds a body of JSON lines.
    pub(super) fn lines_body(&mut self) {
        let body = RequestBodyBuilder::new()
            .description(Some("An export"))
            .content(JSON_LINES, Content::new(Some(text())));
        self.body = Some(body.required(Some(Required::True)).build());
    }

    /// An answer that is a JSON value.
    pub(in crate::api) fn json<T: ToSchema>(&mut self, description: &str) -> Response {
        let content = Content::new(Some(self.refer::<T>()));
        ResponseBuilder::new().description(description).content(JSON, content).build()
    }

    /// An answer of JSON lines.
    pub(in crate::api) fn lines() -> Response {
        let content = Content::new(Some(text()));
        let description = "A JSON object a line";
        ResponseBuilder::new().description(description).content(JSON_LINES, content).build()
    }

    /// An answer of server-sent events whose data are JSON values.
    pub(in crate::api) fn events<T: ToSchema>(&mut self) -> Response {
        let schema = self.refer::<T>().ref_location;
        let description = format!("Events `decision`, each with the JSON of {schema} as its data");
        let content = Content::new(Some(text()));
        ResponseBuilder::new().description(description).content(EVENTS, content).build()
    }

    /// Refers to the schema of a type.
    fn refer<T: ToSchema>(&mut self) -> Ref {
        self.schemas.push((T::name().into(), T::schema()));
        T::schemas(&mut self.schemas);
        Ref::from_schema_name(T::name())
    }
}

fn text() -> Object {
    Object::with_type(SchemaType::new(Type::String))
}
