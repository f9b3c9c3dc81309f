//! What a file needs of its own crate: the homes of the paths in it, what only tests use aside.

use std::collections::BTreeSet;

use syn::{
    Attribute, Item, ItemMod, ItemUse, Path,
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
