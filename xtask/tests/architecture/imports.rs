//! Needs of a file within its own crate: the homes of the paths in it, in attributes and macros
//! too, without those of tests.

use std::collections::BTreeSet;

use syn::{
    Attribute, Item, ItemMod, ItemUse, Macro, MetaList, Path,
    visit::{self, Visit},
};

use crate::modules::{Modules, Names, leaves};

/// The modules that the file of `here` needs.
pub(crate) fn of(modules: &Modules, here: &Names) -> BTreeSet<Names> {
    let Some(module) = modules.files.get(here) else { return BTreeSet::new() };
    let mut reader = Reader { modules, here, inline: Vec::new(), needs: BTreeSet::new() };
    reader.visit_file(&module.syntax);
    reader.needs.remove(here);
    reader.needs
}

struct Reader<'a> {
    modules: &'a Modules,
    here: &'a Names,
    /// The modules written out in this file around what is read.
    inline: Names,
    needs: BTreeSet<Names>,
}

impl Reader<'_> {
    fn need(&mut self, path: &Names) {
        let here = [self.here.as_slice(), &self.inline].concat();
        if let Some(path) = self.modules.absolute(&here, path) {
            self.needs.insert(self.modules.home(&path));
        }
    }

    /// The paths in the tokens of an attribute or a macro, which syn does not read.
    fn need_of_tokens(&mut self, tokens: &impl ToString) {
        for path in paths(&tokens.to_string()) {
            self.need(&path);
        }
    }
}

/// The paths of this crate in tokens. `$crate` is the crate that calls a macro, and `in crate::x` a visibility.
fn paths(tokens: &str) -> Vec<Names> {
    let tokens = tokens.replace(" :: ", "::").replace("$ crate", "$crate");
    let mut before = "";
    let mut paths = Vec::new();
    for word in tokens.split(|c: char| !c.is_alphanumeric() && !['_', ':', '$'].contains(&c)) {
        let names: Names = word.split("::").map(str::to_owned).collect();
        let of_crate =
            matches!(names.first().map(String::as_str), Some("crate" | "super" | "self"));
        if of_crate && names.len() > 1 && before != "in" {
            paths.push(names);
        }
        if !word.is_empty() {
            before = word;
        }
    }
    paths
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes: &[Attribute] = match item {
            Item::Mod(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            _ => &[],
        };
        if !attributes.iter().any(is_test) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.inline.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.inline.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        // A re-export needs nothing: who uses it needs what it names.
        if matches!(item.vis, syn::Visibility::Inherited) {
            for (path, _) in leaves(&item.tree) {
                self.need(&path);
            }
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let names: Names = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if matches!(names.first().map(String::as_str), Some("crate" | "super" | "self"))
            && names.len() > 1
        {
            self.need(&names);
        }
        visit::visit_path(self, path);
    }

    fn visit_meta_list(&mut self, list: &'ast MetaList) {
        self.need_of_tokens(&list.tokens);
    }

    fn visit_macro(&mut self, called: &'ast Macro) {
        visit::visit_macro(self, called);
        self.need_of_tokens(&called.tokens);
    }

    /// `pub(in crate::x)` names no need.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

/// `#[cfg(test)]`, also among other conditions.
fn is_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.meta.require_list().is_ok_and(|list| {
            list.tokens.clone().into_iter().any(|token| token.to_string() == "test")
        })
}

#[test]
fn paths_in_the_tokens_of_attributes_and_macros_are_found() {
    let found = |tokens| paths(tokens).iter().map(|path| path.join(" ")).collect::<Vec<_>>();
    assert_eq!(
        found("schema_with = crate :: api :: schemas :: source"),
        ["crate api schemas source"]
    );
    assert_eq!(found("x (self :: a , \"super::b\")"), ["self a", "super b"]);
    assert!(found("$ crate :: a , pub (in crate :: b) fn c () -> std :: io :: Error").is_empty());
}
