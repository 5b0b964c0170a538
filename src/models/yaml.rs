//! YAML text to plain data: the only place that knows the YAML crate.

/// Parses a document. Maps keep their order.
pub fn parse(text: &str) -> Result<serde_json::Value, String> {
    serde_yaml::from_str(text).map_err(|error| error.to_string())
}
