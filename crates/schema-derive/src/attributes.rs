//! What the attributes of a type or field say.

use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, Result, meta::ParseNestedMeta};

/// What the attributes of a field say.
#[derive(Default)]
pub(crate) struct Attributes {
    pub(crate) rename: Option<String>,
    pub(crate) flatten: bool,
    pub(crate) nullable: bool,
    pub(crate) empty_by_default: bool,
    /// Members of `Limits` with their values.
    pub(crate) limits: Vec<(Ident, Lit)>,
}

impl Attributes {
    pub(crate) fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut read = Self::default();
        for attribute in attributes {
            if attribute.path().is_ident("schema") {
                attribute.parse_nested_meta(|meta| read.schema(&meta))?;
            } else if attribute.path().is_ident("serde") {
                attribute.parse_nested_meta(|meta| read.serde(&meta))?;
            }
        }
        Ok(read)
    }

    fn schema(&mut self, meta: &ParseNestedMeta) -> Result<()> {
        const LIMITS: [&str; 6] = [
            "min_items",
            "max_items",
            "max_length",
            "pattern",
            "minimum",
            "maximum",
        ];
        if meta.path.is_ident("nullable") {
            self.nullable = true;
        } else if meta.path.is_ident("empty_by_default") {
            self.empty_by_default = true;
        } else if LIMITS.iter().any(|limit| meta.path.is_ident(limit)) {
            self.limits
                .push((meta.path.require_ident()?.clone(), meta.value()?.parse()?));
        } else {
            return Err(meta.error("no such attribute of a schema"));
        }
        Ok(())
    }

    fn serde(&mut self, meta: &ParseNestedMeta) -> Result<()> {
        if meta.path.is_ident("rename") {
            let name: LitStr = meta.value()?.parse()?;
            self.rename = Some(name.value());
        } else if meta.path.is_ident("flatten") {
            self.flatten = true;
        } else if meta.path.is_ident("rename_all") || meta.path.is_ident("skip") {
            return Err(meta.error("`Schema` does not follow this attribute"));
        } else if meta.input.peek(syn::Token![=]) {
            meta.value()?.parse::<Expr>()?;
        }
        Ok(())
    }
}

/// The documentation, without the spaces around its lines.
pub(crate) fn description(attributes: &[Attribute]) -> Option<String> {
    let lines = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
                Expr::Lit(ExprLit {
                    lit: Lit::Str(line),
                    ..
                }) => Some(line.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        });
    let lines: Vec<_> = lines.collect();
    let text = lines.join("\n");
    (!text.is_empty()).then_some(text)
}
