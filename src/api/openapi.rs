//! The description of the API as OpenAPI, `/openapi.json` and `docs/openapi.json`, made of the table of operations.

use utoipa::openapi::{
    Components, ComponentsBuilder, Content, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder,
    Paths, Ref, RefOr, ResponseBuilder, Schema,
    path::{HttpMethod, OperationBuilder},
    security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme},
};
use utoipa::{PartialSchema, ToSchema};

use crate::api::{
    ErrorBody,
    operation::{Operation, Visitor},
    output::Output,
    read::{
        description::{Description, JSON},
        input::Input,
    },
    table,
};

/// The name of the way in, in the description.
const KEY: &str = "key";

/// The description of the API.
#[must_use]
pub fn openapi() -> OpenApi {
    let mut described = Described::default();
    table::visit(&mut described);
    let Described { paths, mut schemas } = described;
    schemas.push((ErrorBody::name().into(), ErrorBody::schema()));
    ErrorBody::schemas(&mut schemas);
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    let components: Components = ComponentsBuilder::new()
        .schemas_from_iter(schemas)
        .security_scheme(KEY, SecurityScheme::Http(bearer))
        .build();
    let info = InfoBuilder::new()
        .title("memgate")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "Memories of users. A key reaches the users that it is bound to; through Envoy, verified users \
             reach what is theirs, without naming themselves. The members of a request may be in the query or in a JSON body \
             alike; a GET has no body. The role of an operation is the scope that its key needs.",
        ))
        .license(Some(LicenseBuilder::new().name(env!("CARGO_PKG_LICENSE")).build()));
    OpenApiBuilder::new().info(info.build()).paths(paths).components(Some(components)).build()
}

/// The descriptions of the operations.
#[derive(Default)]
struct Described {
    paths: Paths,
    schemas: Vec<(String, RefOr<Schema>)>,
}

impl Visitor for Described {
    fn visit<O: Operation>(&mut self) {
        let entry = O::ENTRY;
        let mut of = Description::of(entry.path);
        O::Input::describe(&mut of);
        let answer = O::Output::describe(&mut of, entry.status);
        let error = ResponseBuilder::new()
            .description("An error")
            .content(JSON, Content::new(Some(Ref::from_schema_name(ErrorBody::name()))));
        let (summary, more) = entry.doc.split_once("\n\n").unwrap_or((entry.doc, ""));
        let more = Some(more.trim()).filter(|more| !more.is_empty());
        let operation = OperationBuilder::new()
            .operation_id(Some(entry.name))
            .tag(entry.tag)
            .summary(Some(summary.trim()))
            .description(more)
            .parameters(Some(of.parameters).filter(|all| !all.is_empty()))
            .request_body(of.body)
            .response(entry.status.as_str(), answer)
            .response("default", error)
            // The roles of a bearer key, as OpenAPI 3.1 calls them.
            .security(SecurityRequirement::new(KEY, [entry.scope.name()]));
        let method = match entry.method.as_str() {
            "POST" => HttpMethod::Post,
            "PUT" => HttpMethod::Put,
            "PATCH" => HttpMethod::Patch,
            "DELETE" => HttpMethod::Delete,
            _ => HttpMethod::Get,
        };
        self.paths.add_path_operation(entry.path, vec![method], operation);
        self.schemas.extend(of.schemas);
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, path::Path};

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_committed_description_is_that_of_the_table() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/openapi.json");
        let made = openapi().to_pretty_json().unwrap() + "\n";
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, made).unwrap();
            return;
        }
        let committed = std::fs::read_to_string(&path).unwrap();
        assert!(made == committed, "docs/openapi.json is old: run again with UPDATE_EXPECT=1");
    }

    /// Collects what operations lack.
    struct Lacks {
        api: Value,
        names: HashSet<&'static str>,
        found: Vec<String>,
    }

    impl Visitor for Lacks {
        fn visit<O: Operation>(&mut self) {
            let entry = O::ENTRY;
            let method = entry.method.as_str().to_ascii_lowercase();
            let described = &self.api["paths"][entry.path][&method];
            let summary = described["summary"].as_str().unwrap_or_default();
            let parameters = described["parameters"].as_array();
            let ids = parameters.into_iter().flatten().filter(|it| it["in"] == "path");
            let ids: Vec<String> =
                ids.map(|it| format!("{{{}}}", it["name"].as_str().unwrap())).collect();
            let in_path: Vec<&str> =
                entry.path.split('/').filter(|part| part.starts_with('{')).collect();
            let answers = described["responses"].as_object();
            for (holds, lack) in [
                (
                    summary.ends_with('.') && !summary.contains('\n'),
                    "a sentence that says what it does",
                ),
                (described["operationId"] == entry.name, "a path and method of its own"),
                (self.names.insert(entry.name), "a name of its own"),
                (described["security"] == json!([{KEY: [entry.scope.name()]}]), "its key scope"),
                (answers.is_some_and(|all| all.len() == 2), "an answer and an error"),
                (ids == in_path, "the id in its path"),
            ] {
                if !holds {
                    self.found.push(format!("{} lacks {lack} in OpenAPI", entry.name));
                }
            }
        }
    }

    #[test]
    fn every_operation_has_a_documentation_a_key_scope_and_a_description() {
        let api = serde_json::to_value(openapi()).unwrap();
        let mut lacks = Lacks { api, names: HashSet::new(), found: Vec::new() };
        table::visit(&mut lacks);
        assert!(lacks.found.is_empty(), "{}", lacks.found.join("\n"));
        assert!(lacks.names.len() > 25, "{}", lacks.names.len());
    }
}
