//! YAML text to plain data: the only place that knows the YAML crate.

/// Parses a document. Maps keep their order.
pub fn parse(text: &str) -> Result<serde_json::Value, String> {
    serde_yaml::from_str(text).map_err(|error| error.to_string())
}

/// The same, but no key may occur twice in a map; the line of the error where it is known.
pub fn parse_strictly(text: &str) -> Result<serde_json::Value, (Option<usize>, String)> {
    let located = |error: serde_yaml::Error| (error.location().map(|location| location.line()), error.to_string());
    serde_yaml::from_str::<serde_yaml::Value>(text).map_err(located)?;
    serde_yaml::from_str(text).map_err(located)
}
