//! No files of the engine import each other in a circle, nor do their methods of the engine call each other in one: each
//! file can be read when those that it uses are known.
//!
//! A rule imports `Step` from the module that it is in, and that module has the list of the rules. So what a file takes from
//! a module that it is in does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::house_rules::{code_of_programs, root, sources_of};

/// A module below the one that is looked at: the names on the way to it.
type Module = Vec<String>;

/// The files of a module of the library, as modules, with their code.
fn modules_of(room: &str) -> BTreeMap<Module, String> {
    let folder = root().join("elasticjob/src").join(room);
    let files = sources_of(room).into_iter().map(|file| {
        let inside = file.strip_prefix(&folder).expect("a file of the room").with_extension("");
        let names = inside.iter().map(|name| name.to_string_lossy().into_owned());
        (names.filter(|name| name != "mod").collect(), fs::read_to_string(&file).expect("readable source"))
    });
    files.collect()
}

/// What the code of a module names with paths from `super` or from the room on, as paths from the room on.
fn named(module: &[String], room: &str, code: &str) -> Vec<Module> {
    fn look(tokens: TokenStream, module: &[String], room: &str, into: &mut Vec<Module>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (place, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => look(group.stream(), module, room, into),
                TokenTree::Ident(first) if first == "super" || first == "crate" => {
                    // `name: crate::x` has one colon before it.
                    let is_colon =
                        |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':');
                    let is_within = place > 1 && tokens[place - 2..place].iter().all(is_colon);
                    if !is_within {
                        paths(&tokens[place..], &mut vec![], &mut |path| into.extend(within(path, module, room)));
                    }
                }
                _ => {}
            }
        }
    }
    let mut into = Vec::new();
    look(code_of_programs(code.parse().expect("valid Rust")), module, room, &mut into);
    into
}

/// The paths that begin at the first token: one, or several where it ends with a group of names.
fn paths(tokens: &[TokenTree], before: &mut Module, found: &mut dyn FnMut(&[String])) {
    match tokens {
        [TokenTree::Ident(name), rest @ ..] => {
            before.push(name.to_string());
            match rest {
                [TokenTree::Punct(first), TokenTree::Punct(second), rest @ ..]
                    if first.as_char() == ':' && second.as_char() == ':' =>
                {
                    paths(rest, before, found);
                }
                _ => found(before),
            }
            before.pop();
        }
        [TokenTree::Group(group), ..] if group.delimiter() == Delimiter::Brace => {
            let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
            let names = tokens.split(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ','));
            names.for_each(|name| paths(name, before, found));
        }
        _ => found(before),
    }
}

/// A path as one from the room on; `None` where it leads out of the room.
fn within(path: &[String], module: &[String], room: &str) -> Option<Module> {
    let ups = path.iter().take_while(|name| **name == "super").count();
    if ups > 0 {
        let base = module.get(..module.len().checked_sub(ups)?)?;
        return Some(base.iter().chain(&path[ups..]).cloned().collect());
    }
    let [first, second, rest @ ..] = path else { return None };
    (first == "crate" && second == room).then(|| rest.to_vec())
}

/// The modules that each module imports, without those that it is in.
fn imports(room: &str, modules: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let file_of = |mut path: Module| {
        while !modules.contains_key(&path) {
            path.pop();
        }
        path
    };
    let of = |(module, code): (&Module, &String)| {
        let named = named(module, room, code).into_iter().map(file_of);
        (module.clone(), named.filter(|other| !module.starts_with(other)).collect())
    };
    modules.iter().map(of).collect()
}

/// The methods that a file adds to the engine.
fn methods_of_the_engine(code: TokenStream) -> BTreeSet<String> {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    let bodies = tokens.windows(3).filter_map(|three| match three {
        [TokenTree::Ident(first), TokenTree::Ident(second), TokenTree::Group(body)]
            if first == "impl" && second == "JobEngine" =>
        {
            Some(body.stream())
        }
        _ => None,
    });
    let names = bodies.flat_map(|body| {
        let tokens: Vec<TokenTree> = body.into_iter().collect();
        let names = tokens.windows(2).filter_map(|two| match two {
            [TokenTree::Ident(first), TokenTree::Ident(name)] if first == "fn" => Some(name.to_string()),
            _ => None,
        });
        names.collect::<Vec<_>>()
    });
    names.collect()
}

/// The names of what is called on the engine, which is `self` in its own methods and `engine` in those of rules.
fn called_on_the_engine(code: TokenStream, into: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    for four in tokens.windows(4) {
        if let [TokenTree::Ident(on), TokenTree::Punct(dot), TokenTree::Ident(name), TokenTree::Group(_)] = four
            && (on == "self" || on == "engine")
            && dot.as_char() == '.'
        {
            into.insert(name.to_string());
        }
    }
    for token in tokens {
        if let TokenTree::Group(group) = token {
            called_on_the_engine(group.stream(), into);
        }
    }
}

/// The files whose methods of the engine each file calls.
fn calls(modules: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let code = |code: &String| code_of_programs(code.parse().expect("valid Rust"));
    let mut made_in: BTreeMap<String, &Module> = BTreeMap::new();
    for (module, text) in modules {
        made_in.extend(methods_of_the_engine(code(text)).into_iter().map(|name| (name, module)));
    }
    let of = |(module, text): (&Module, &String)| {
        let mut names = BTreeSet::new();
        called_on_the_engine(code(text), &mut names);
        let files = names.iter().filter_map(|name| made_in.get(name).copied()).filter(|file| *file != module);
        (module.clone(), files.cloned().collect())
    };
    modules.iter().map(of).collect()
}

/// What is left when modules that import nothing that is left are taken away, again and again; and those that nothing
/// that is left imports.
fn in_circles(mut imports: BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<Module> {
    loop {
        let imported: BTreeSet<Module> = imports.values().flatten().cloned().collect();
        let left: BTreeSet<Module> = imports
            .iter()
            .filter(|(module, imports)| !imports.is_empty() && imported.contains(*module))
            .map(|(module, _)| module.clone())
            .collect();
        if left.len() == imports.len() {
            return left;
        }
        imports.retain(|module, _| left.contains(module));
        imports.values_mut().for_each(|others| others.retain(|other| left.contains(other)));
    }
}

#[test]
fn files_of_the_engine_do_not_import_each_other_in_a_circle() {
    let modules = modules_of("engine");
    assert!(modules.len() > 50, "{:?}", modules.keys());
    let imports = imports("engine", &modules);
    assert!(imports.values().map(BTreeSet::len).sum::<usize>() > 200, "{imports:?}");
    let circles: Vec<String> = in_circles(imports).iter().map(|module| module.join("/")).collect();
    assert!(circles.is_empty(), "between these files there is a circle of imports: {}", circles.join(", "));
}

#[test]
fn methods_of_the_engine_do_not_call_each_other_across_files_in_a_circle() {
    let calls = calls(&modules_of("engine"));
    assert!(calls.values().map(BTreeSet::len).sum::<usize>() > 100, "{calls:?}");
    let circles: Vec<String> = in_circles(calls).iter().map(|module| module.join("/")).collect();
    assert!(circles.is_empty(), "between these files there is a circle of calls: {}", circles.join(", "));
}

fn room(files: &[(&str, &str)]) -> BTreeMap<Module, String> {
    let module = |path: &str| path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    files.iter().map(|(path, code)| (module(path), (*code).to_owned())).collect()
}

#[test]
fn the_rule_about_calls_sees_methods_and_functions_of_rules() {
    let b = ("b", "impl JobEngine { fn b(&self) -> bool { self.a(1) } }");
    for a in [
        "impl JobEngine { pub(super) fn a(&self, n: u32) { if n > 0 { g(self.b()) } } }",
        "impl JobEngine { fn a(&self, n: u32) {} } fn rule(engine: &mut JobEngine) { engine.b(); }",
    ] {
        assert_eq!(in_circles(calls(&room(&[("a", a), b]))).len(), 2, "{a}");
    }
    for a in [
        "impl JobEngine { fn a(&self, n: u32) { self.state.b() } }",
        "impl Other { fn a(&self) { self.b() } }",
        "impl JobEngine { fn a(&self, n: u32) {} } #[cfg(test)] mod tests { fn t(engine: &JobEngine) { engine.b() } }",
    ] {
        assert_eq!(in_circles(calls(&room(&[("a", a), b]))).len(), 0, "{a}");
    }
}

#[test]
fn the_rule_about_circles_sees_each_form_of_a_path() {
    let circles = |files: &[(&str, &str)]| in_circles(imports("engine", &room(files))).len();
    let b = ("b", "use super::a::A;");
    for a in [
        "use super::b::B;",
        "use crate::engine::b::{self, B};",
        "use super::{c::C, b::B};",
        "fn f() { super::b::g(1) }",
        "fn f(b: super::super::engine::X, c: crate::engine::b::B) {}",
    ] {
        assert_eq!(circles(&[("", ""), ("a", a), b, ("c", "")]), 2, "{a}");
    }
    for a in
        ["use super::c::B;", "use crate::b::B;", "// super::b", "#[cfg(test)] mod tests { use super::super::b::B; }"]
    {
        assert_eq!(circles(&[("", ""), ("a", a), b, ("c", "")]), 0, "{a}");
    }
    // Of three, by way of a folder.
    let three = [("", ""), ("a", "use super::b::B;"), ("b", "use super::c::d::D;"), ("c/d", "use super::super::a::A;")];
    assert_eq!(circles(&three), 3);
    assert_eq!(circles(&[("", "mod a;"), ("a", "use super::A;")]), 0);
}
