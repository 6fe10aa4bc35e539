//! A test plan as elements: what JMeter keeps in a tree, each with its properties.

use std::path::Path;
use std::rc::Rc;

use crate::names;
use crate::xml::{Node, XmlProblem};

/// The setting that holds the name of a row which is an element of its own.
pub(crate) const NAME: &str = "TestElement.name";

/// An element of a test plan, and what is below it.
#[derive(Debug)]
pub(crate) struct Element {
    /// JMeter's class of it, as the file writes it: `ThreadGroup`.
    pub class: String,
    /// The class of its form: tells HTTP defaults from other defaults.
    pub gui: String,
    /// The name that the user gave it.
    pub name: String,
    /// Whether it takes part.
    pub enabled: bool,
    /// Its line in the file, from 1.
    pub line: usize,
    /// The file, where it is one that the plan includes.
    pub within: Option<Rc<Path>>,
    /// Why what it includes can't be.
    pub problem: Option<String>,
    /// Its settings.
    pub properties: Properties,
    /// What is below it.
    pub children: Vec<Element>,
}

impl Element {
    /// How messages name it: `Thread Group 'users'`, and an unknown one with its class.
    pub(crate) fn title(&self) -> String {
        match names::form_name(&self.class, &self.gui) {
            Some(form) if form == self.name || self.name.is_empty() => form.to_owned(),
            Some(form) => format!("{form} '{}'", self.name),
            None if self.name.is_empty() => self.class.clone(),
            None => format!("'{}'", self.name),
        }
    }

    /// What is below it and takes part.
    pub(crate) fn enabled_children(&self) -> impl Iterator<Item = &Element> {
        self.children.iter().filter(|child| child.enabled)
    }
}

/// Settings by name.
#[derive(Debug, Default)]
pub(crate) struct Properties(Vec<(String, Property)>);

/// A setting.
#[derive(Debug)]
pub(crate) enum Property {
    /// A text, number or truth value, as written.
    Text(String),
    /// Several settings, such as the rows of a table.
    List(Vec<(String, Property)>),
    /// Settings of their own, such as a row of a table.
    Object(Properties),
}

impl Properties {
    /// The setting, if it is there.
    pub(crate) fn get(&self, name: &str) -> Option<&Property> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, property)| property)
    }

    /// Whether the setting is there, empty or not.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A text as it stands; empty where there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Property::Text(text)) => text,
            _ => "",
        }
    }

    /// Whether the setting is `true`; `default` where it is not there or empty.
    pub(crate) fn is_true(&self, name: &str, default: bool) -> bool {
        match self.text(name).trim() {
            "" => default,
            text => text.eq_ignore_ascii_case("true"),
        }
    }

    /// The settings within `name`; none where it is not there.
    pub(crate) fn object(&self, name: &str) -> Option<&Properties> {
        match self.get(name) {
            Some(Property::Object(properties)) => Some(properties),
            _ => None,
        }
    }

    /// The rows of the table `name`.
    pub(crate) fn rows(&self, name: &str) -> impl Iterator<Item = &Properties> {
        self.list(name).filter_map(|property| match property {
            Property::Object(properties) => Some(properties),
            _ => None,
        })
    }

    /// The texts of each list in the list `name`.
    pub(crate) fn lists(&self, name: &str) -> Vec<Vec<&str>> {
        let lists = self.list(name).filter_map(|property| match property {
            Property::List(list) => Some(texts_of(list)),
            _ => None,
        });
        lists.collect()
    }

    /// The texts of the list `name`.
    pub(crate) fn texts(&self, name: &str) -> Vec<&str> {
        match self.get(name) {
            Some(Property::List(list)) => texts_of(list),
            _ => Vec::new(),
        }
    }

    fn list(&self, name: &str) -> impl Iterator<Item = &Property> {
        let list = match self.get(name) {
            Some(Property::List(list)) => list.as_slice(),
            _ => &[],
        };
        list.iter().map(|(_, property)| property)
    }
}

fn texts_of(list: &[(String, Property)]) -> Vec<&str> {
    let texts = list.iter().filter_map(|(_, property)| match property {
        Property::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// The elements at the top of a plan: the test plan, and the workbench of old files.
pub(crate) fn elements(root: Node) -> Result<Vec<Element>, XmlProblem> {
    let line = root.line;
    let elements = tops(root)?;
    if elements.iter().any(|element| element.class == "TestPlan") {
        Ok(elements)
    } else {
        let what = "it holds no <TestPlan>, as a file of JMeter 2 or later does".into();
        Err(XmlProblem { line, column: 1, what })
    }
}

/// The elements at the top of a file that JMeter saved.
pub(crate) fn tops(root: Node) -> Result<Vec<Element>, XmlProblem> {
    if root.tag != "jmeterTestPlan" {
        let what = format!("it is no JMeter test plan: its root is <{}> and not <jmeterTestPlan>", root.tag);
        return Err(XmlProblem { line: root.line, column: 1, what });
    }
    let tree = root.children.into_iter().find(|child| child.tag == "hashTree");
    Ok(branch(tree.unwrap_or_default()))
}

/// A tree is elements, each followed by the tree of what is below it.
fn branch(tree: Node) -> Vec<Element> {
    let mut elements: Vec<Element> = Vec::new();
    for node in tree.children {
        if node.tag == "hashTree" {
            if let Some(parent) = elements.last_mut() {
                parent.children.extend(branch(node));
            }
        } else {
            elements.push(element(node));
        }
    }
    elements
}

fn element(node: Node) -> Element {
    let attribute = |name| node.attribute(name).unwrap_or_default().to_owned();
    Element {
        gui: attribute("guiclass"),
        name: attribute("testname"),
        enabled: node.attribute("enabled") != Some("false"),
        line: node.line,
        within: None,
        problem: None,
        properties: Properties(properties(&node.children)),
        class: node.tag,
        children: Vec::new(),
    }
}

fn properties(nodes: &[Node]) -> Vec<(String, Property)> {
    nodes.iter().filter_map(property).collect()
}

fn property(node: &Node) -> Option<(String, Property)> {
    let name = node.attribute("name").unwrap_or_default().to_owned();
    let child =
        |tag: &str| node.children.iter().find(|child| child.tag == tag).map(|child| child.text.clone());
    match node.tag.as_str() {
        "elementProp" => {
            let mut row = properties(&node.children);
            let own = node.attribute("testname");
            row.extend(own.map(|own| (NAME.to_owned(), Property::Text(own.to_owned()))));
            Some((name, Property::Object(Properties(row))))
        }
        "collectionProp" | "mapProp" => Some((name, Property::List(properties(&node.children)))),
        // The older numbers with a fraction keep name and value in elements of their own.
        "doubleProp" | "floatProp" | "FloatProperty" if name.is_empty() => {
            Some((child("name")?, Property::Text(child("value").unwrap_or_default())))
        }
        "stringProp" | "boolProp" | "intProp" | "longProp" | "floatProp" | "doubleProp" => {
            Some((name, Property::Text(node.text.clone())))
        }
        _ => None,
    }
}
