//! The description of the API as OpenAPI, `docs/openapi.json`: made of what the routes and their types say of themselves.

use memgate_capture::JobStanding;
use memgate_core::memory::{PreferenceKey, Source, Status};
use strum::VariantArray;
use utoipa::openapi::{
    Array, ComponentsBuilder, ContentBuilder, InfoBuilder, LicenseBuilder, Object, ObjectBuilder,
    OpenApi, PathItem, Ref, RefOr, ResponseBuilder, Type,
    path::Operation,
    schema::SchemaType,
    security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme},
};
use utoipa::{PartialSchema, ToSchema};

use crate::api::{ErrorBody, routes::described};

/// The name of the way in, in the description.
const KEY: &str = "key";

/// The description of the API.
#[must_use]
pub fn openapi() -> OpenApi {
    let mut api = described().into_openapi();
    api.info = InfoBuilder::new()
        .title("memgate")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "What memgate remembers of users. A key reaches the users that it is bound to; through Envoy, verified users \
             reach what is theirs, without naming themselves.",
        ))
        .license(Some(LicenseBuilder::new().name(env!("CARGO_PKG_LICENSE")).build()))
        .build();
    let components = ComponentsBuilder::from(api.components.take().unwrap_or_default());
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    let mut schemas = Vec::new();
    ErrorBody::schemas(&mut schemas);
    api.components = Some(
        components
            .schema(ErrorBody::name(), ErrorBody::schema())
            .schemas_from_iter(schemas)
            .security_scheme(KEY, SecurityScheme::Http(bearer))
            .build(),
    );
    for operation in api.paths.paths.values_mut().flat_map(operations) {
        operation.security = Some(vec![SecurityRequirement::new::<_, [&str; 0], _>(KEY, [])]);
        let body =
            ContentBuilder::new().schema(Some(Ref::from_schema_name(ErrorBody::name()))).build();
        let error =
            ResponseBuilder::new().description("An error").content("application/json", body);
        operation.responses.responses.insert("default".into(), RefOr::T(error.build()));
    }
    api
}

fn operations(path: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem { get, put, post, delete, patch, .. } = path;
    [get, put, post, delete, patch].into_iter().flatten()
}

fn one_of<T: VariantArray + Copy + Into<&'static str>>(description: &str) -> Object {
    let names = T::VARIANTS.iter().map(|it| -> &'static str { (*it).into() });
    ObjectBuilder::new()
        .schema_type(SchemaType::new(Type::String))
        .enum_values(Some(names))
        .description(Some(description))
        .build()
}

pub(super) fn source() -> Object {
    one_of::<Source>("Where it comes from.")
}

pub(super) fn status() -> Object {
    one_of::<Status>("Whether it is in use, and if not, why.")
}

pub(super) fn job_state() -> Object {
    one_of::<JobStanding>("Its state; a running job is pending.")
}

pub(super) fn preference_key() -> Object {
    one_of::<PreferenceKey>("What the preference is about.")
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::new(Type::String))
}

pub(super) fn mentions() -> Array {
    let mention = ObjectBuilder::new()
        .property("name", text().description(Some("Its name, as it is written there.")))
        .property("type", text().description(Some("What it is, in a word: person, place …")))
        .required("name");
    Array::new(mention)
}

pub(super) fn entity_relations() -> Array {
    let names = ["subject", "predicate", "object"];
    let relation = names.into_iter().fold(ObjectBuilder::new(), |relation, name| {
        relation.property(name, text()).required(name)
    });
    Array::new(relation)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_committed_description_is_that_of_the_routes() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/openapi.json");
        let made = openapi().to_pretty_json().unwrap() + "\n";
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, made).unwrap();
            return;
        }
        let committed = std::fs::read_to_string(&path).unwrap();
        assert!(made == committed, "docs/openapi.json is old: run again with UPDATE_EXPECT=1");
    }

    #[test]
    fn every_operation_says_what_it_does_answers_and_needs() {
        let mut api = openapi();
        let mut count = 0;
        for operation in api.paths.paths.values_mut().flat_map(operations) {
            count += 1;
            assert!(operation.summary.is_some() && operation.security.is_some());
            assert!(operation.responses.responses.len() == 2);
        }
        assert!(count > 25, "{count}");
    }
}
