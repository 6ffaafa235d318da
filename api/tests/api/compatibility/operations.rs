//! Paths, operations, parameters and answers, compared.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Comparison, Way, members, resolve};

const METHODS: [&str; 7] = ["get", "put", "post", "delete", "options", "head", "patch"];

impl Comparison<'_> {
    pub(super) fn documents(&mut self) {
        let (old, new, at) = (self.old, self.new, "document");
        self.same(at, old, new, &["servers", "security"]);
        for (path, old, new) in self.kept(at, &old["paths"], &new["paths"]) {
            self.path_items(path, Way::ToService, old, new);
        }
    }

    fn path_items(&mut self, at: &str, way: Way, old: &Value, new: &Value) {
        for (method, old, new) in self.kept(at, old, new) {
            if METHODS.contains(&method) {
                self.operations(&format!("{method} {at}"), way, old, new);
            }
        }
    }

    /// `way` is that of the request.
    fn operations(&mut self, at: &str, way: Way, old: &Value, new: &Value) {
        // Generated clients name their functions after it.
        self.same(at, old, new, &["operationId", "security"]);
        self.parameters(at, way, &old["parameters"], &new["parameters"]);
        self.request_bodies(at, way, &old["requestBody"], &new["requestBody"]);
        self.responses(at, way.back(), &old["responses"], &new["responses"]);
        for (event, old, new) in self.kept(at, &old["callbacks"], &new["callbacks"]) {
            for (_, old, new) in self.kept(event, old, new) {
                self.path_items(event, way.back(), old, new);
            }
        }
    }

    fn parameters(&mut self, at: &str, way: Way, old: &Value, new: &Value) {
        let named = |document, parameters: &Value| -> Value {
            let all = parameters.as_array().into_iter().flatten();
            all.map(|parameter| {
                let parameter = resolve(document, parameter);
                let text = |member: &str| parameter[member].as_str().unwrap_or_default();
                let name = format!("{} {}", text("in"), text("name"));
                (name, parameter.clone())
            })
            .collect()
        };
        let (old, new) = (named(self.old, old), named(self.new, new));
        self.fields(at, way, &old, &new);
    }

    /// Parameters or headers: values with a name, which may be required.
    fn fields(&mut self, at: &str, way: Way, old: &Value, new: &Value) {
        for (name, old, new) in self.kept(at, old, new) {
            let (old, new) = (resolve(self.old, old), resolve(self.new, new));
            self.schemas(
                &format!("{at}, {name}"),
                way,
                &old["schema"],
                &new["schema"],
            );
        }
        let required = |document, fields| -> BTreeSet<&str> {
            members(fields)
                .filter(|(_, field)| resolve(document, field)["required"] == true)
                .map(|(name, _)| name)
                .collect()
        };
        self.requirements(at, way, &required(self.old, old), &required(self.new, new));
    }

    fn request_bodies(&mut self, at: &str, way: Way, old: &Value, new: &Value) {
        let (old, new) = (resolve(self.old, old), resolve(self.new, new));
        let required =
            |body: &Value| BTreeSet::from_iter((body["required"] == true).then_some("the body"));
        self.requirements(at, way, &required(old), &required(new));
        self.contents(at, way, &old["content"], &new["content"]);
    }

    fn responses(&mut self, at: &str, way: Way, old: &Value, new: &Value) {
        for (status, _) in members(new) {
            // Whoever does not know an error treats it like another of its class; a success has to be read.
            if status.starts_with('2') && old.get(status).is_none() {
                self.found(at, &format!("may now be answered with {status}"));
            }
        }
        for (status, old, new) in self.kept(at, old, new) {
            let (old, new) = (resolve(self.old, old), resolve(self.new, new));
            let at = format!("{at}, {status}");
            self.fields(&at, way, &old["headers"], &new["headers"]);
            self.contents(&at, way, &old["content"], &new["content"]);
        }
    }

    fn contents(&mut self, at: &str, way: Way, old: &Value, new: &Value) {
        let schemas = |content| -> Value {
            members(content)
                .map(|(content_type, body)| (content_type.to_owned(), body["schema"].clone()))
                .collect()
        };
        self.choices(at, way, &schemas(old), &schemas(new));
    }
}
