//! Text to a tree of XML nodes, with the line of each.
//!
//! A tree of our own, since a plan may be anybody's: `roxmltree` calls itself for each level of elements and bounds how
//! many there are in all but not how deep, so that half a megabyte of `<a><a>…` would end the process.

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};

/// Deepest nesting. JMeter's own plans stay below 40; a bound keeps the walk over the tree within the stack.
pub(crate) const DEPTH_MAX: usize = 200;
/// Most nodes that are read; a plan has some thousands.
const NODES_MAX: usize = 200_000;
/// Most attributes of one; a plan has four at most. Each is looked for among all of them.
const ATTRIBUTES_MAX: usize = 64;

/// An XML element.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// Its tag.
    pub tag: String,
    /// Its attributes, in order.
    pub attributes: Vec<(String, String)>,
    /// The line that it begins in, from 1.
    pub line: usize,
    /// The text directly within it, put together.
    pub text: String,
    /// The elements within it.
    pub children: Vec<Node>,
}

/// Why text is no XML, and where: line and column from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct XmlProblem {
    pub line: usize,
    pub column: usize,
    pub what: String,
}

impl Node {
    /// The attribute, if there is one.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// The root element of `text`.
pub(crate) fn parse(text: &str) -> Result<Node, XmlProblem> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut lines = Lines { text, offset: 0, line: 1 };
    let mut open: Vec<Node> = Vec::new();
    let mut root = None;
    let mut nodes = 0;
    loop {
        let start = offset(reader.buffer_position());
        let problem = |what: String| problem(text, start, what);
        let event = reader.read_event().map_err(|error| {
            let at = offset(reader.error_position());
            self::problem(text, at, error.to_string())
        })?;
        match event {
            Event::Start(tag) => {
                nodes += 1;
                if open.len() >= DEPTH_MAX || nodes > NODES_MAX {
                    return Err(problem(format!(
                        "more than {DEPTH_MAX} elements within each other, or {NODES_MAX} in all"
                    )));
                }
                if root.is_some() && open.is_empty() {
                    return Err(problem("there is a second root element".into()));
                }
                open.push(node(&tag, lines.line_at(start)).map_err(problem)?);
            }
            Event::End(_) => {
                let Some(done) = open.pop() else { continue };
                match open.last_mut() {
                    Some(parent) => parent.children.push(done),
                    None => root = Some(done),
                }
            }
            Event::Text(piece) => {
                let piece =
                    piece.xml_content(XmlVersion::Implicit1_0).map_err(|it| problem(it.to_string()))?;
                append(&mut open, &piece).map_err(problem)?;
            }
            Event::CData(piece) => {
                let piece =
                    piece.xml_content(XmlVersion::Implicit1_0).map_err(|it| problem(it.to_string()))?;
                append(&mut open, &piece).map_err(problem)?;
            }
            Event::GeneralRef(entity) => {
                append(&mut open, &resolved(&entity).map_err(problem)?).map_err(problem)?;
            }
            Event::Eof => break,
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    if let Some(unclosed) = open.last() {
        let what = format!("the file ends within <{}>, which began in line {}", unclosed.tag, unclosed.line);
        return Err(problem(text, text.len(), what));
    }
    root.ok_or_else(|| problem(text, 0, "there is no XML element in it".into()))
}

fn append(open: &mut [Node], piece: &str) -> Result<(), String> {
    match open.last_mut() {
        Some(node) => node.text.push_str(piece),
        None if piece.trim_matches(['\u{feff}', ' ', '\t', '\r', '\n']).is_empty() => {}
        None => return Err("there is text outside of the root element".into()),
    }
    Ok(())
}

fn node(tag: &BytesStart<'_>, line: usize) -> Result<Node, String> {
    let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        if attributes.len() >= ATTRIBUTES_MAX {
            return Err(format!("more than {ATTRIBUTES_MAX} attributes of one element"));
        }
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
        attributes.push((name(attribute.key.as_ref()), value.into_owned()));
    }
    Ok(Node { tag: name(tag.name().as_ref()), attributes, line, ..Node::default() })
}

/// What `&…;` stands for. Entities that a document type declares are none of JMeter's.
fn resolved(entity: &BytesRef<'_>) -> Result<String, String> {
    if let Some(character) = entity.resolve_char_ref().map_err(|error| error.to_string())? {
        return Ok(character.to_string());
    }
    let name = entity.decode().map_err(|error| error.to_string())?;
    quick_xml::escape::resolve_predefined_entity(&name)
        .map(str::to_owned)
        .ok_or_else(|| format!("the entity &{name}; is unknown"))
}

fn offset(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

fn problem(text: &str, offset: usize, what: String) -> XmlProblem {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let line = newlines(before) + 1;
    let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
    XmlProblem { line, column, what }
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}

/// Lines of offsets that only grow: each byte is looked at once.
struct Lines<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

impl Lines<'_> {
    fn line_at(&mut self, offset: usize) -> usize {
        let passed = self.text.as_bytes().get(self.offset..offset).unwrap_or_default();
        self.line += newlines(passed);
        self.offset = self.offset.max(offset);
        self.line
    }
}
