//! The dashboard's files: how they are served, and that they are complete and unchanged.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use regex::Regex;
use sha2::{Digest, Sha256};
use strum::VariantArray;

use crate::api::tests::*;
use memgate_capture::Became;
use memgate_core::memory::Status;
use memgate_recall::Cut;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboard")
}

/// The files of a folder and of the folders in it, as paths below it.
fn files(of: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders = vec![of.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => _ = found.insert(path.strip_prefix(of).unwrap().to_owned()),
            }
        }
    }
    found
}

#[tokio::test]
async fn the_page_needs_no_key_and_may_load_nothing_from_elsewhere() {
    let mut server = Server::start().await;
    server.client = Client::builder().no_proxy().build().unwrap();
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/dashboard/", "text/html; charset=utf-8"),
        ("/dashboard/app/main.js", "text/javascript; charset=utf-8"),
        ("/dashboard/style/base.css", "text/css; charset=utf-8"),
        ("/dashboard/icon.svg", "image/svg+xml"),
    ] {
        let answer = server.request(Method::GET, path).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        let header = |name: &str| answer.headers()[name].to_str().unwrap();
        assert_eq!(header("content-type"), kind);
        assert_eq!(header("x-content-type-options"), "nosniff");
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    }
    for path in ["/dashboard/style/", "/dashboard/vendor/update.sh", "/dashboard/..%2fCargo.toml"] {
        let (status, _) = server.get(path).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[test]
fn every_file_that_a_page_loads_exists_and_every_script_and_style_is_loaded() {
    let all = files(&folder());
    let named = Regex::new(r##"(?:from|import|src=|href=) ?"([^"#:]+\.(?:js|css|svg))""##).unwrap();
    let mut loaded = BTreeSet::new();
    for file in
        all.iter().filter(|file| file.extension().is_some_and(|it| it == "js" || it == "html"))
    {
        let text = fs::read_to_string(folder().join(file)).unwrap();
        for (_, [name]) in named.captures_iter(&text).map(|found| found.extract()) {
            let target = match name.strip_prefix("/dashboard/") {
                Some(below) => folder().join(below),
                None => folder().join(file).parent().unwrap().join(name),
            };
            let target = fs::canonicalize(&target);
            let target = target.unwrap_or_else(|_| unreachable!("{}: no {name}", file.display()));
            loaded.insert(target.strip_prefix(folder()).unwrap().to_owned());
        }
    }
    let ours = |file: &&PathBuf| file.extension().is_some_and(|it| it == "js" || it == "css");
    let unused: Vec<_> = all.iter().filter(ours).filter(|file| !loaded.contains(*file)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn the_libraries_are_those_of_their_packages() {
    let vendor = folder().join("vendor");
    let sums = fs::read_to_string(vendor.join("SHA256SUMS")).unwrap();
    let mut listed = BTreeSet::from(["SHA256SUMS".into(), "update.sh".into()]);
    for line in sums.lines() {
        let (sum, file) = line.split_once("  ").unwrap();
        let found = Sha256::digest(fs::read(vendor.join(file)).unwrap());
        let found: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, sum, "{file}");
        listed.insert(PathBuf::from(file));
    }
    assert_eq!(files(&vendor), listed);
}

#[test]
fn a_folder_of_the_dashboard_holds_at_most_a_dozen_files() {
    let mut folders = std::collections::BTreeMap::<PathBuf, usize>::new();
    for file in files(&folder()) {
        *folders.entry(file.parent().unwrap().to_owned()).or_default() += 1;
    }
    assert!(folders.values().all(|files| *files <= 12), "{folders:?}");
}

/// The names in a table of `names.js`.
fn told(table: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(folder().join("app/core/names.js")).unwrap();
    let (_, table) = text.split_once(&format!("export const {table} = {{")).unwrap();
    let (table, _) = table.split_once("};").unwrap();
    let name = Regex::new(r"(\w+): ").unwrap();
    name.captures_iter(table).map(|found| found[1].to_owned()).collect()
}

fn variants<T: VariantArray + Copy + Into<&'static str>>() -> BTreeSet<String> {
    let names = T::VARIANTS.iter().map(|it| -> &'static str { (*it).into() });
    names.map(str::to_owned).collect()
}

#[test]
fn the_pages_have_words_for_every_name_of_the_api() {
    assert_eq!(told("CUT"), variants::<Cut>());
    assert_eq!(told("BECAME"), variants::<Became>());
    // Forgotten memories are in no answer.
    let mut statuses = variants::<Status>();
    assert!(statuses.remove("forgotten"));
    assert_eq!(told("STATUS"), statuses);
}
