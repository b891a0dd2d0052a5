//! Rewriting of one rustc command line.
//!
//! Touched are only units for the target (`--target`, which cargo leaves out for build scripts,
//! proc macros and what they depend on). They must be compiled so that nothing is optimised away
//! before it is instrumented, with debug information, to bitcode, and linked by the shim. What the
//! user's profile says of debug assertions and overflow checks is kept: rustc derives both from the
//! optimisation level that we change, so they are spelled out.

use std::ffi::OsString;
use std::path::Path;

/// The rewritten command line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rewritten {
    /// For rustc.
    pub arguments: Vec<OsString>,
    /// The linker that the shim takes the place of, if one was named.
    pub linker: Option<OsString>,
}

/// Codegen options that contradict what we need. The optimisation level is read before it goes.
const REPLACED: &[&str] = &[
    "opt-level",
    "debuginfo",
    "debug-assertions",
    "overflow-checks",
    "lto",
    "linker-plugin-lto",
    "strip",
    "split-debuginfo",
    "linker",
    "linker-flavor",
    "link-self-contained",
    "linker-features",
    "no-prepopulate-passes",
    // They would change what is accessed before it is instrumented.
    "passes",
    "codegen-units",
];

/// The crate name under which cargo asks rustc for its settings.
const PROBE: &str = "___";

/// What the arguments say of the profile.
#[derive(Default)]
struct Profile {
    optimised: bool,
    debug_assertions: Option<bool>,
    overflow_checks: Option<bool>,
    linker: Option<OsString>,
}

/// What is compiled even where nobody calls it, in the packages that are audited.
const AUDITED: &str = "-Clink-dead-code";

/// The command line for a unit of the target; any other comes back as it is. `arguments` are
/// without rustc itself. `audited`: its functions are of interest, whether or not they are called.
pub fn rewrite(arguments: Vec<OsString>, shim: &Path, audited: bool) -> Rewritten {
    let mut rewritten = rewrite_for(arguments, shim);
    if audited {
        rewritten.arguments.push(AUDITED.into());
    }
    rewritten
}

fn rewrite_for(arguments: Vec<OsString>, shim: &Path) -> Rewritten {
    match role(&arguments) {
        Role::Other => Rewritten { arguments, linker: None },
        Role::Probe => {
            let mut arguments = arguments;
            arguments.extend(["--cfg", "lockred"].map(OsString::from));
            Rewritten { arguments, linker: None }
        }
        Role::Unit => rewrite_unit(arguments, shim),
    }
}

/// What a call of rustc is for.
enum Role {
    /// Not for the target, or a proc macro.
    Other,
    /// cargo asks for settings of the target.
    Probe,
    /// Compiles a crate for the target.
    Unit,
}

fn role(arguments: &[OsString]) -> Role {
    let mut target = false;
    let mut name = None;
    let mut words = arguments.iter().filter_map(|argument| argument.to_str());
    while let Some(word) = words.next() {
        let (key, value) = word.split_once('=').map_or((word, None), |(k, v)| (k, Some(v)));
        let mut value = || value.or_else(|| words.next());
        match key {
            "--target" => target = true,
            "--crate-name" => name = value(),
            "--crate-type" if value() == Some("proc-macro") && name != Some(PROBE) => {
                return Role::Other;
            }
            _ => {}
        }
    }
    match (target, name) {
        (true, Some(PROBE)) => Role::Probe,
        (true, Some(_)) => Role::Unit,
        // Without a crate name it is `rustc -vV`, or a build script that asks for something.
        _ => Role::Other,
    }
}

fn rewrite_unit(arguments: Vec<OsString>, shim: &Path) -> Rewritten {
    let mut profile = Profile::default();
    let mut kept = Vec::with_capacity(arguments.len() + 16);
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        match argument.to_str() {
            Some("-C" | "--codegen") => match rest.next() {
                Some(option) if profile.takes(&option) => {}
                option => {
                    kept.push(argument);
                    kept.extend(option);
                }
            },
            Some("-O") => profile.optimised = true,
            Some("-g") => {}
            Some(text) => {
                let option = text.strip_prefix("--codegen=").or_else(|| {
                    // `-Cx`, not `--cfg`; `-C` alone was handled above.
                    text.strip_prefix("-C")
                });
                if !option.is_some_and(|option| profile.takes(&OsString::from(option))) {
                    kept.push(argument);
                }
            }
            None => kept.push(argument),
        }
    }
    // As rustc derives them: assertions from the level, overflow checks from assertions.
    let assertions = profile.debug_assertions.unwrap_or(!profile.optimised);
    let checks = profile.overflow_checks.unwrap_or(assertions);
    let on = |on| if on { "on" } else { "off" };
    let mut linker = OsString::from("-Clinker=");
    linker.push(shim);
    kept.extend(
        [
            "-Copt-level=1",
            "-Cno-prepopulate-passes",
            // What the shim does to all code, done where cargo keeps it: local variables are
            // promoted, constants propagated. Before that go the reads that nobody asked for: rustc
            // loads both halves of an enum to tell its variants apart, and uses one. What a
            // variable of the program is given is used until then, by the store into that variable.
            "-Cpasses=forceattrs",
            "-Cpasses=function(dce,sroa,sccp)",
            // Promotion would read behind a pointer before it is known that the program follows it;
            // code with this attribute must not, since that makes races. The shim takes it away
            // again.
            "-Cllvm-args=-force-attribute=sanitize_thread",
            // Each unit has its own copies of small functions and types, which the shim has to
            // merge.
            "-Ccodegen-units=1",
            "-Cdebuginfo=2",
            "-Clinker-plugin-lto",
            "-Clinker-flavor=gcc",
        ]
        .map(OsString::from),
    );
    kept.push(linker);
    kept.push(format!("-Cdebug-assertions={}", on(assertions)).into());
    kept.push(format!("-Coverflow-checks={}", on(checks)).into());
    kept.extend(["--cfg", "lockred", "--check-cfg", "cfg(lockred)"].map(OsString::from));
    Rewritten { arguments: kept, linker: profile.linker }
}

impl Profile {
    /// Whether a codegen option is one that we replace; notes what it says.
    fn takes(&mut self, option: &OsString) -> bool {
        let bytes = option.as_encoded_bytes();
        let end = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
        let Some(key) = std::str::from_utf8(&bytes[..end]).ok() else { return false };
        // rustc takes both spellings.
        let key = key.replace('_', "-");
        if !REPLACED.contains(&key.as_str()) {
            return false;
        }
        let value = option.to_str().and_then(|text| text.split_once('=')).map(|(_, value)| value);
        match key.as_str() {
            "opt-level" => self.optimised = value != Some("0"),
            "debug-assertions" => self.debug_assertions = Some(switch(value)),
            "overflow-checks" => self.overflow_checks = Some(switch(value)),
            "linker" => self.linker = option.to_str().and(value).map(OsString::from),
            _ => {}
        }
        true
    }
}

/// A boolean codegen option; rustc takes it without a value for true.
fn switch(value: Option<&str>) -> bool {
    !matches!(value, Some("n" | "no" | "off" | "false"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(line: &str) -> String {
        let arguments = line.split(' ').map(OsString::from).collect();
        let rewritten = rewrite(arguments, Path::new("/b/lockred-shim"), false);
        let words: Vec<_> =
            rewritten.arguments.iter().map(|a| a.to_str().unwrap().to_owned()).collect();
        words.join(" ")
    }

    const OURS: &str = "-Copt-level=1 -Cno-prepopulate-passes -Cpasses=forceattrs \
         -Cpasses=function(dce,sroa,sccp) -Cllvm-args=-force-attribute=sanitize_thread \
         -Ccodegen-units=1 -Cdebuginfo=2 -Clinker-plugin-lto -Clinker-flavor=gcc -Clinker=/b/lockred-shim";
    const CFG: &str = "--cfg lockred --check-cfg cfg(lockred)";

    fn unit(kept: &str, assertions: &str, checks: &str) -> String {
        format!(
            "--crate-name x --target t{kept} {OURS} -Cdebug-assertions={assertions} \
             -Coverflow-checks={checks} {CFG}"
        )
    }

    #[test]
    fn host_units_and_proc_macros_stay_as_they_are() {
        for line in [
            "--crate-name build_script_build build.rs -Copt-level=3",
            "--crate-name m --crate-type proc-macro --target t -C linker=cc",
            "--crate-name m --crate-type=proc-macro --target=t",
            "-vV",
            "--print=sysroot --target t",
        ] {
            assert_eq!(rewritten(line), line);
        }
    }

    #[test]
    fn questions_of_cargo_learn_of_the_cfg() {
        let line = "- --crate-name ___ --print=file-names --target t --crate-type bin --crate-type proc-macro";
        assert_eq!(rewritten(line), format!("{line} --cfg lockred"));
    }

    #[test]
    fn assertions_and_checks_stay_as_the_profile_has_them() {
        let line = |flags: &str| rewritten(&format!("--crate-name x --target t{flags}"));
        assert_eq!(line(""), unit("", "on", "on"), "cargo's dev profile");
        assert_eq!(line(" -Copt-level=0"), unit("", "on", "on"));
        assert_eq!(line(" -C opt-level=3"), unit("", "off", "off"), "release");
        assert_eq!(line(" -O"), unit("", "off", "off"));
        assert_eq!(line(" -O -Copt-level=0"), unit("", "on", "on"), "the last one counts");
        assert_eq!(line(" -C opt-level=s -C debug-assertions=on"), unit("", "on", "on"));
        assert_eq!(line(" -Copt-level=2 -Coverflow-checks"), unit("", "off", "on"));
        assert_eq!(line(" --codegen debug_assertions=no"), unit("", "off", "off"));
        assert_eq!(line(" --codegen=overflow-checks=off"), unit("", "on", "off"));
    }

    #[test]
    fn what_contradicts_us_goes_and_the_rest_stays() {
        let kept = " -C llvm-args=-stats -Cpanic=abort -C link-arg=-fuse-ld=mold --cfg mine -Cembed-bitcode=no";
        let gone = " -C codegen-units=4 -C passes=gvn -Clto -C lto=thin -C strip=symbols -g -Csplit-debuginfo=packed \
                     -Clink-self-contained=+linker -C linker=clang -Clinker-flavor=gnu-cc";
        assert_eq!(
            rewritten(&format!("--crate-name x --target t{kept}{gone}")),
            unit(kept, "on", "on")
        );
    }

    #[test]
    fn the_user_s_linker_is_remembered() {
        let arguments = "--crate-name x --target t -Clinker=/usr/bin/clang -O".split(' ');
        let rewritten = rewrite(arguments.map(OsString::from).collect(), Path::new("/s"), false);
        assert_eq!(rewritten.linker, Some("/usr/bin/clang".into()));
    }

    #[test]
    fn arguments_that_are_no_text_survive() {
        use std::os::unix::ffi::OsStringExt;
        let odd = OsString::from_vec(b"--extern=x=/\xff/libx.rlib".to_vec());
        let arguments = ["--crate-name", "x", "--target", "t"].map(OsString::from);
        let arguments: Vec<_> = arguments.into_iter().chain([odd.clone()]).collect();
        assert!(rewrite(arguments, Path::new("/s"), false).arguments.contains(&odd));
    }
}
