//! The warnings of an audit as a SARIF 2.1.0 log.

use super::report::{Audit, Finding, Place};
use crate::exit::Exit;
use crate::printing::sarif::{
    FINGERPRINT, ROOT, message, note_baseline, of_run, rule_index, tool, uri, without_repetition,
};
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
    let base = format!("file://{}/", uri(root));
    of_run(&json!({
        "tool": tool(),
        "invocations": [{ "executionSuccessful": true, "exitCode": exit as u8 }],
        "originalUriBaseIds": { ROOT: { "uri": base } },
        "columnKind": "unicodeCodePoints",
        "results": results,
    }))
}

/// A warning as a result. `relative`: a file as the log names it.
pub fn result(
    finding: &Finding,
    package: &str,
    compared: bool,
    relative: &dyn Fn(&str) -> PathBuf,
) -> Value {
    let notes = finding.notes.iter().map(|note| format!("\n{note}")).collect::<String>();
    let mut result = json!({
        "ruleId": finding.code,
        "level": if finding.denied { "error" } else { "warning" },
        "message": message(&format!("{}{notes}", finding.message)),
        "partialFingerprints": { FINGERPRINT: finding.fingerprint },
        "properties": { "package": package, "subject": finding.subject },
    });
    if let Some(index) = rule_index(finding.code) {
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
    note_baseline(&mut result, compared, finding.known);
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
        "message": message(label),
    });
    if !place.function.is_empty() {
        location["logicalLocations"] =
            json!([{ "fullyQualifiedName": place.function, "kind": "function" }]);
    }
    location
}
