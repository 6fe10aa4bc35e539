//! Requests of a scenario's file: what is sent, what is taken from the answer, and what must be true of it.

use std::collections::BTreeMap;

use plan::PlanError;
use serde_json_path::JsonPath;
use toml::{Spanned, Value};

use super::keys::{ExpectTable, ExtractTable, PaceOf, PaceTable, PartName, StepTable};
use super::{Reader, in_order};
use crate::model::{
    Assertion, Check, Extraction, Extractor, Field, JsonRules, OnError, Pacing, Part, Pause, RequestStep,
    TextRules,
};
use crate::prepared;
use crate::template::Template;

impl Reader<'_> {
    /// The request of a step: `POST /login`, `/login`, or with a whole URL.
    pub(super) fn request(&self, line: &Spanned<String>, step: &StepTable) -> Result<RequestStep, PlanError> {
        let given = line.get_ref().trim();
        let (method, target) = match given.split_once(char::is_whitespace) {
            Some((method, target)) if !method.contains(['/', '$']) => (Some(method), target.trim()),
            _ => (None, given),
        };
        let (body, is_json) = self.body(step)?;
        let has_body = body != Template::default() || step.form.is_some();
        let method = method.unwrap_or(if has_body { "POST" } else { "GET" });
        let name = match &step.name {
            Some(name) => self.template(name)?,
            // As it is written: what variables make of it may be another each time, and it is one request all the same.
            None => Template::text(format!("{method} {target}")),
        };
        Ok(RequestStep {
            name,
            method: Template::text(method),
            url: self.url(line, target)?,
            headers: self.headers(step, is_json)?,
            body,
            form: self.form(step.form.as_ref())?,
            body_file: None,
            multipart: None,
            keep_alive: step.keep_alive.unwrap_or(true),
            redirects_max: step.redirects.unwrap_or(self.redirects_max),
            on_error: OnError::Continue,
            waits: None,
            sets: Vec::new(),
            pauses: step.pace.iter().map(pace).collect(),
            extractions: match &step.extract {
                Some(table) => in_order(table).map(|it| self.extraction(it)).collect::<Result<_, _>>()?,
                None => Vec::new(),
            },
            assertions: step
                .expect
                .as_ref()
                .map_or(Ok(Vec::new()), |expect| self.expectations(expect.get_ref()))?,
        })
    }

    fn url(&self, line: &Spanned<String>, target: &str) -> Result<Template, PlanError> {
        let whole =
            if target.starts_with('/') { format!("{}{target}", self.base) } else { target.to_owned() };
        if whole.starts_with('/') {
            let help = "add base = \"http://127.0.0.1:8080\" at the top of the file, or write the whole URL";
            return Err(self.error(line, format!("`{target}` is a path, and there is no base"), help));
        }
        let url = self.template_of(line, &whole)?;
        if let Some(constant) = url.constant() {
            let help = "write it like GET http://127.0.0.1:8080/path, or GET /path below a base";
            prepared::http_url(constant).map_err(|what| self.error(line, what, help))?;
        }
        Ok(url)
    }

    /// The file's fields that the step does not have itself, and then the step's.
    fn headers(&self, step: &StepTable, is_json: bool) -> Result<Vec<(Template, Template)>, PlanError> {
        let none = BTreeMap::new();
        let own = step.headers.as_ref().unwrap_or(&none);
        let is_own = |name: &str| own.keys().any(|other| other.eq_ignore_ascii_case(name));
        let shared = in_order(&self.headers).filter(|(name, _)| !is_own(name));
        let mut headers = Vec::new();
        for (name, value) in shared.chain(in_order(own)) {
            headers.push((Template::text(name), self.template(value)?));
        }
        let has_type = |(name, _): &(Template, Template)| {
            name.constant().is_some_and(|name| name.eq_ignore_ascii_case("content-type"))
        };
        if is_json && !headers.iter().any(has_type) {
            headers.push((Template::text("Content-Type"), Template::text("application/json")));
        }
        Ok(headers)
    }

    /// The body, and whether it was given as JSON.
    fn body(&self, step: &StepTable) -> Result<(Template, bool), PlanError> {
        let given = [
            ("body", step.body.as_ref().map(|body| body.span().start)),
            ("json", step.json.as_ref().map(|json| json.span().start)),
            (
                "form",
                step.form
                    .as_ref()
                    .and_then(|form| in_order(form).next())
                    .map(|(_, first)| first.span().start),
            ),
        ];
        let keys: Vec<_> = given.into_iter().filter_map(|(key, at)| Some((key, at?))).collect();
        if let [(first, _), (second, at), ..] = keys.as_slice() {
            let error =
                PlanError::new(format!("the step has {first} and {second}"), "give it only one of them");
            return Err(error.at_offset(self.path, self.text, *at));
        }
        if let Some(body) = &step.body {
            return Ok((self.template(body)?, false));
        }
        let Some(json) = &step.json else { return Ok((Template::default(), false)) };
        let text = serde_json::to_string(json.get_ref())
            .map_err(|error| self.error(json, error.to_string(), "write what JSON can say"))?;
        // Where there are variables a backslash escapes, and JSON's own must stay.
        let text = if text.contains("${") { text.replace('\\', r"\\") } else { text };
        Ok((self.template_of(json, &text)?, true))
    }

    fn form(
        &self,
        fields: Option<&BTreeMap<String, Spanned<String>>>,
    ) -> Result<Vec<(Template, Template, bool)>, PlanError> {
        let fields = fields.into_iter().flat_map(in_order);
        fields.map(|(name, value)| Ok((Template::text(name), self.template(value)?, true))).collect()
    }

    fn extraction(&self, (name, table): (&str, &Spanned<ExtractTable>)) -> Result<Extraction, PlanError> {
        let given = table.get_ref();
        let mut found = Vec::new();
        if let Some(path) = &given.json {
            self.json_path(path, path.get_ref())?;
            let path = path.get_ref().clone();
            found.push(Extractor::Json { path, rules: JsonRules::AsFound });
        }
        if let Some(pattern) = &given.regex {
            found.push(self.regex_extractor(pattern, given.template.as_ref())?);
        } else if let Some(template) = &given.template {
            return Err(self.error(
                template,
                "a template puts groups of a regex together",
                "add regex = '…'",
            ));
        }
        if let Some([left, right]) = &given.between {
            found.push(Extractor::Boundary { left: left.clone(), right: right.clone() });
        }
        if let Some(name) = &given.header {
            found.push(Extractor::Header { name: name.clone() });
        }
        let mut found = found.into_iter();
        let (Some(how), None) = (found.next(), found.next()) else {
            let what = format!("how `{name}` is found is not said once");
            return Err(self.error(table, what, "give it one of json, regex, between or header"));
        };
        let part = match given.from {
            None if matches!(how, Extractor::Header { .. }) => Part::Headers,
            None | Some(PartName::Body) => Part::Body,
            Some(_) if matches!(how, Extractor::Json { .. } | Extractor::Header { .. }) => {
                return Err(self.error(table, "from is said of a regex or of between", "take it out"));
            }
            Some(PartName::Headers) => Part::Headers,
            Some(PartName::Status) => Part::Status,
            Some(PartName::Reason) => Part::Reason,
            Some(PartName::Url) => Part::Url,
            Some(PartName::RequestHeaders) => Part::RequestHeaders,
        };
        let which = given.which.as_ref().map_or(Ok(1), |which| self.which(which))?;
        Ok(Extraction { name: name.to_owned(), part, how, which, default: given.default.clone() })
    }

    fn regex_extractor(
        &self,
        pattern: &Spanned<String>,
        template: Option<&Spanned<String>>,
    ) -> Result<Extractor, PlanError> {
        let regex = self.regex(pattern, pattern.get_ref())?;
        let default = if regex.captures_len() > 1 { "$1$" } else { "$0$" };
        let template = template.map_or(default, |template| template.get_ref()).to_owned();
        Ok(Extractor::Regex { pattern: Template::text(pattern.get_ref().as_str()), template })
    }

    fn which(&self, which: &Spanned<Value>) -> Result<i32, PlanError> {
        match which.get_ref() {
            Value::Integer(number) if (1..=1_000_000).contains(number) => Ok(*number as i32),
            Value::String(word) if word == "random" => Ok(0),
            Value::String(word) if word == "all" => Ok(-1),
            other => {
                let help = "write a number from 1, \"random\" or \"all\"";
                Err(self.error(which, format!("{other} is no match"), help))
            }
        }
    }

    fn expectations(&self, expect: &ExpectTable) -> Result<Vec<Assertion>, PlanError> {
        let mut checks = Vec::new();
        if let Some(status) = &expect.status {
            checks.push((self.status(status)?, false));
        }
        let texts = [
            (&expect.contains, Field::Substring, false),
            (&expect.lacks, Field::Substring, true),
            (&expect.matches, Field::Contains, false),
        ];
        for (given, field, negated) in texts {
            let Some(given) = given else { continue };
            let texts = self.texts(given)?;
            if field == Field::Contains {
                for pattern in texts.iter().filter_map(Template::constant) {
                    self.regex(given, pattern)?;
                }
            }
            checks.push((text_check(Part::Body, field, texts), negated));
        }
        for (path, value) in in_order(&expect.json) {
            self.json_path(value, path)?;
            let text = match value.get_ref() {
                Value::String(text) => text.clone(),
                Value::Array(_) | Value::Table(_) => {
                    let help = "compare single values, each by its own path";
                    return Err(self.error(value, "lists and tables are not compared", help));
                }
                other => other.to_string(),
            };
            let value = Some(self.template_of(value, &text)?);
            checks.push((json_check(path.to_owned(), value), false));
        }
        for path in
            expect.has.iter().map(|has| Ok((has, strings(self, has)?))).collect::<Result<Vec<_>, _>>()?
        {
            for one in path.1 {
                self.json_path(path.0, &one)?;
                checks.push((json_check(one, None), false));
            }
        }
        checks.extend(expect.within.map(|most| (Check::DurationAtMost(most), false)));
        let assertion = |(check, negated)| Assertion { name: String::new(), check, negated };
        Ok(checks.into_iter().map(assertion).collect())
    }

    /// `200`, `"2xx"`, or several of them. What is expected is no failure, 404 included.
    fn status(&self, given: &Spanned<Value>) -> Result<Check, PlanError> {
        let all = match given.get_ref() {
            Value::Array(all) => all.clone(),
            one => vec![one.clone()],
        };
        let patterns: Option<Vec<String>> = all
            .iter()
            .map(|one| match one {
                Value::Integer(code) if (100..1000).contains(code) => Some(code.to_string()),
                Value::String(class) if matches!(class.as_bytes(), [b'1'..=b'9', b'x', b'x']) => {
                    Some(format!("{}..", &class[..1]))
                }
                _ => None,
            })
            .collect();
        let patterns = patterns.filter(|patterns| !patterns.is_empty()).ok_or_else(|| {
            let what = format!("{} is no status", given.get_ref());
            self.error(given, what, "write 200, \"2xx\" or [200, 404]")
        })?;
        Ok(Check::Text {
            part: Part::Status,
            field: Field::Matches,
            patterns: patterns.into_iter().map(Template::text).collect(),
            any: true,
            ignore_status: true,
            rules: TextRules::Plain,
        })
    }

    fn texts(&self, given: &Spanned<Value>) -> Result<Vec<Template>, PlanError> {
        strings(self, given)?.iter().map(|text| self.template_of(given, text)).collect()
    }

    fn regex<T>(&self, at: &Spanned<T>, pattern: &str) -> Result<fancy_regex::Regex, PlanError> {
        prepared::regex(pattern, false).map_err(|why| {
            self.error(at, format!("the expression `{pattern}` can't be used ({why})"), "mend the expression")
        })
    }

    fn json_path<T>(&self, at: &Spanned<T>, path: &str) -> Result<(), PlanError> {
        JsonPath::parse(path).map(drop).map_err(|error| {
            let what = format!("the JSONPath `{path}` can't be used ({error})");
            self.error(at, what, "write it as RFC 9535 has it, like $.user.id or $..id")
        })
    }
}

fn pace(table: &Spanned<PaceTable>) -> Pause {
    let table = table.get_ref();
    let per_minute = Template::text((table.rate.as_per_sec() * 60.0).to_string());
    let of = match table.of {
        PaceOf::User => Pacing::User,
        PaceOf::Group => Pacing::Group,
    };
    Pause::Throughput { per_minute, of, timer: 0 }
}

/// A text, or a list of texts.
fn strings(reader: &Reader<'_>, given: &Spanned<Value>) -> Result<Vec<String>, PlanError> {
    let texts: Option<Vec<String>> = match given.get_ref() {
        Value::String(one) => Some(vec![one.clone()]),
        Value::Array(all) => all.iter().map(|one| one.as_str().map(str::to_owned)).collect(),
        _ => None,
    };
    texts.ok_or_else(|| {
        let what = format!("{} is no text", given.get_ref());
        reader.error(given, what, "write \"text\" or [\"one\", \"two\"]")
    })
}

fn json_check(path: String, value: Option<Template>) -> Check {
    Check::Json { path, value, regex: false, or_null: false, rules: JsonRules::AsFound }
}

fn text_check(part: Part, field: Field, patterns: Vec<Template>) -> Check {
    Check::Text { part, field, patterns, any: false, ignore_status: false, rules: TextRules::Plain }
}
