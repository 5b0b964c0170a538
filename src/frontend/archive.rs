//! Members of an `ar` archive, in the form that GNU and LLVM tools write.

pub const MAGIC: &[u8] = b"!<arch>\n";
const HEADER_BYTES: usize = 60;

#[derive(Debug, PartialEq, Eq)]
pub struct Member<'a> {
    pub name: String,
    pub bytes: &'a [u8],
}

/// All members but the symbol table and the table of long names.
pub fn members(archive: &[u8]) -> Result<Vec<Member<'_>>, String> {
    let damaged = || "it is cut off or damaged".to_owned();
    if !archive.starts_with(MAGIC) {
        return Err("it is thin: it only names its members; pass those".to_owned());
    }
    let (mut position, mut long_names, mut found) = (MAGIC.len(), &[][..], Vec::new());
    while position < archive.len() {
        let header = archive.get(position..position + HEADER_BYTES).ok_or_else(damaged)?;
        let field = |from: usize, to: usize| std::str::from_utf8(&header[from..to]).map(str::trim_end).map_err(|_| damaged());
        let size: usize = field(48, 58)?.parse().map_err(|_| damaged())?;
        if &header[58..] != b"`\n" {
            return Err(damaged());
        }
        let start = position + HEADER_BYTES;
        let end = start.checked_add(size).ok_or_else(damaged)?;
        let bytes = archive.get(start..end).ok_or_else(damaged)?;
        match field(0, 16)? {
            "/" | "/SYM64/" => {}
            "//" => long_names = bytes,
            name => found.push(Member { name: full_name(name, long_names).ok_or_else(damaged)?, bytes }),
        }
        // Members begin at even offsets.
        position = end + size % 2;
    }
    Ok(found)
}

/// `name/` itself, or `/offset` into the table of long names.
fn full_name(name: &str, long_names: &[u8]) -> Option<String> {
    let Some(offset) = name.strip_prefix('/') else { return Some(name.trim_end_matches('/').to_owned()) };
    let rest = long_names.get(offset.parse::<usize>().ok()?..)?;
    let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    Some(String::from_utf8_lossy(&rest[..end]).trim_end_matches('/').to_owned())
}
