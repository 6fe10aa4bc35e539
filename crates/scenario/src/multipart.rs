//! Bodies of several parts put together, as RFC 7578 has them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memmem;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::model::{FormContent, Multipart};
use crate::template::Template;

/// Files that are bodies or parts of them, by their paths.
pub(crate) type Files = HashMap<PathBuf, Arc<[u8]>>;

/// What a boundary is made of: as many characters as six bits tell apart.
const CHARACTERS: &[u8; 64] = b"-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Characters of a boundary, so many that none is met by chance in what it parts.
const BOUNDARY_CHARACTERS: usize = 36;
/// Room for the lines before a part and behind it, beside the boundary.
const HEAD_BYTES: usize = 256;

/// A body of several parts, and its type.
#[derive(Debug, Clone)]
pub(crate) struct Whole {
    pub(crate) kind: String,
    pub(crate) body: Arc<[u8]>,
}

/// A part whose texts are put together.
struct Filled<'p> {
    name: Cow<'p, str>,
    kind: Cow<'p, str>,
    /// The name of the file that it is.
    file: Option<Cow<'p, str>>,
    content: Cow<'p, [u8]>,
}

impl Whole {
    /// The body where nothing in it differs between requests; `None` where something does. Made once, since files may be large
    /// and users many.
    pub(crate) fn of_constants(multipart: &Multipart, files: &Files) -> Option<Self> {
        if !texts(multipart).all(|text| text.constant().is_some()) {
            return None;
        }
        let parts = filled(multipart, files, |text| Cow::Borrowed(text.constant().unwrap_or_default()));
        // Made anew until it is in none of them: whoever sends what was recorded of us has our boundaries in it.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        let is_free = |boundary: &String| !parts.iter().any(|part| contains(&part.content, boundary));
        let boundary = std::iter::repeat_with(|| boundary(&mut random)).find(is_free).unwrap_or_default();
        Some(Self::of_parts(&parts, multipart.explicit, &boundary))
    }

    /// The body with what `text` makes of its texts now.
    pub(crate) fn filled<'p>(
        multipart: &'p Multipart,
        files: &'p Files,
        boundary: &str,
        text: impl FnMut(&'p Template) -> Cow<'p, str>,
    ) -> Self {
        Self::of_parts(&filled(multipart, files, text), multipart.explicit, boundary)
    }

    fn of_parts(parts: &[Filled<'_>], explicit: bool, boundary: &str) -> Self {
        let contents: usize = parts.iter().map(|part| part.content.len()).sum();
        let mut body = Vec::with_capacity(contents + (parts.len() + 1) * (HEAD_BYTES + boundary.len()));
        for Filled { name, kind, file, content } in parts {
            let mut head =
                format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(name));
            // Writing into a String cannot fail.
            if let Some(file) = file {
                let _ = write!(head, "; filename=\"{}\"", quoted(&file_name(file)));
            }
            if explicit || file.is_some() {
                let _ = write!(head, "\r\nContent-Type: {kind}");
            }
            if explicit {
                let encoding = if file.is_some() { "binary" } else { "8bit" };
                let _ = write!(head, "\r\nContent-Transfer-Encoding: {encoding}");
            }
            head.push_str("\r\n\r\n");
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        let kind = format!("multipart/form-data; boundary={boundary}; charset=UTF-8");
        Self { kind, body: body.into() }
    }
}

/// All texts of a body.
fn texts(multipart: &Multipart) -> impl Iterator<Item = &Template> {
    multipart.parts.iter().flat_map(|part| {
        let content = match &part.content {
            FormContent::Text(text) => Some(text),
            FormContent::File(_) => None,
        };
        [&part.name, &part.kind].into_iter().chain(content)
    })
}

/// The parts that are sent.
fn filled<'p>(
    multipart: &'p Multipart,
    files: &'p Files,
    mut text: impl FnMut(&'p Template) -> Cow<'p, str>,
) -> Vec<Filled<'p>> {
    let mut parts = Vec::new();
    for part in &multipart.parts {
        let (name, kind) = (text(&part.name), text(&part.kind));
        let (file, content) = match &part.content {
            FormContent::Text(value) => (None, bytes(text(value))),
            FormContent::File(path) => {
                let content: &[u8] = files.get(path).map_or(&[], AsRef::as_ref);
                (Some(base_name(path)), Cow::Borrowed(content))
            }
        };
        let has_no_value = name.trim().starts_with("${") && name.ends_with('}');
        let is_nothing = file.is_none() && has_no_value;
        if !name.trim().is_empty() && !is_nothing {
            parts.push(Filled { name, kind, file, content });
        }
    }
    parts
}

fn bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

fn base_name(path: &Path) -> Cow<'_, str> {
    path.file_name().map_or(Cow::Borrowed(""), OsStr::to_string_lossy)
}

/// The name of a file as browsers write it: what would end it or its line is encoded.
fn file_name(name: &str) -> String {
    name.replace('"', "%22").replace('\n', "%0A").replace('\r', "%0D")
}

/// A name as it stands within quotation marks.
fn quoted(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\r', "\\\r")
}

/// What parts the parts.
pub(crate) fn boundary(random: &mut Xoshiro256PlusPlus) -> String {
    (0..BOUNDARY_CHARACTERS).map(|_| char::from(CHARACTERS[(random.next_u64() >> 58) as usize])).collect()
}

fn contains(content: &[u8], boundary: &str) -> bool {
    memmem::find(content, boundary.as_bytes()).is_some()
}
