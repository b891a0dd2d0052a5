//! The warnings of an audit as a SARIF 2.1.0 log.

use super::report::{Audit, Finding, Place};
use crate::exit::Exit;
use crate::output::sarif::{FINGERPRINT, ROOT, rule, rules, uri, without_repetition};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The whole document. `compared`: with a baseline.
pub fn document(audits: &[Audit], root: &Path, compared: bool, exit: Exit) -> String {
    let results: Vec<Value> = audits
        .iter()
        .flat_map(|audit| {
            let of = |it| result(it, &audit.package, compared, &|file| PathBuf::from(file));
            audit.findings.iter().map(of)
        })
        .collect();
    let rules: Vec<Value> = rules().iter().map(|(code, level)| rule(code, level)).collect();
    let base = format!("file://{}/", uri(root));
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "lockred",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "invocations": [{ "executionSuccessful": true, "exitCode": exit as u8 }],
            "originalUriBaseIds": { ROOT: { "uri": base } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{document:#}\n")
}

/// A warning as a result. `relative`: a file as the log names it.
pub fn result(
    finding: &Finding,
    package: &str,
    compared: bool,
    relative: &dyn Fn(&str) -> PathBuf,
) -> Value {
    let text = |text: &str| json!({ "text": text });
    let notes = finding.notes.iter().map(|note| format!("\n{note}")).collect::<String>();
    let mut result = json!({
        "ruleId": finding.code,
        "level": if finding.denied { "error" } else { "warning" },
        "message": text(&format!("{}{notes}", finding.message)),
        "partialFingerprints": { FINGERPRINT: finding.fingerprint },
        "properties": { "package": package, "subject": finding.subject },
    });
    if let Some(index) = rules().iter().position(|(code, _)| *code == finding.code) {
        result["ruleIndex"] = index.into();
    }
    let mut locations =
        finding.places.iter().map(|(label, place)| location(label, place, &relative(&place.file)));
    if let Some(first) = locations.next() {
        result["locations"] = json!([first]);
    }
    let others = without_repetition(locations);
    if !others.is_empty() {
        result["relatedLocations"] = others.into();
    }
    if compared {
        result["baselineState"] = if finding.known { "unchanged" } else { "new" }.into();
    }
    if finding.known {
        let why = "the baseline has it";
        result["suppressions"] =
            json!([{ "kind": "external", "status": "accepted", "justification": why }]);
    }
    result
}

fn location(label: &str, place: &Place, file: &Path) -> Value {
    let mut artifact = json!({ "uri": uri(file) });
    if !file.is_absolute() {
        artifact["uriBaseId"] = ROOT.into();
    }
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": artifact,
            "region": { "startLine": place.line.max(1), "startColumn": place.column.max(1) },
        },
        "message": { "text": label },
    });
    if !place.function.is_empty() {
        location["logicalLocations"] =
            json!([{ "fullyQualifiedName": place.function, "kind": "function" }]);
    }
    location
}
