//! The documents: short enough to be read, linked to what there is, and in step with each other and with the code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{json, records_of, repository, run, stdout, text};

/// A map is read, not searched.
const ARCHITECTURE_WORDS_MAX: usize = 1500;
const ENGLISH: &str = "README.md";
const CHINESE: &str = "README.zh-CN.md";
const DECISIONS: &str = "docs/decisions";

#[derive(Default)]
struct Page {
    /// Of each fenced block what its fence says and what is in it, in order.
    blocks: Vec<(String, String)>,
    /// All other lines.
    prose: String,
}

impl Page {
    fn read(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let text = std::fs::read_to_string(repository().join(path))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut page = Self::default();
        let mut open: Option<(String, String)> = None;
        for line in text.lines() {
            match (line.strip_prefix("```"), open.take()) {
                (Some(_), Some(block)) => page.blocks.push(block),
                (Some(language), None) => open = Some((language.to_owned(), String::new())),
                (None, Some((language, text))) => open = Some((language, text + line + "\n")),
                (None, None) => page.prose.extend([line, "\n"]),
            }
        }
        assert!(open.is_none(), "{}: a fence is not closed", path.display());
        page
    }

    /// Where its links lead, except to other sites, in order.
    fn links(&self) -> Vec<String> {
        let without_code: String =
            self.prose.lines().flat_map(|line| line.split('`').step_by(2).chain(["\n"])).collect();
        let links = without_code.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        links.map(|(link, _)| link.to_owned()).filter(|link| !link.contains("://")).collect()
    }

    /// The names of its headings in links.
    fn anchors(&self) -> BTreeSet<String> {
        let headings = self.prose.lines().filter(|line| line.starts_with('#'));
        headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
    }
}

fn anchor(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    heading.to_lowercase().chars().filter(kept).map(|it| if it == ' ' { '-' } else { it }).collect()
}

/// The documents whose links are tried, by their path from the root.
fn documents() -> Vec<PathBuf> {
    let mut documents =
        vec!["ARCHITECTURE.md".into(), "CONTRIBUTING.md".into(), ENGLISH.into(), CHINESE.into()];
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(repository().join(&folder)).expect("it is a folder") {
            let entry = entry.expect("it can be read");
            let path = folder.join(entry.file_name());
            if entry.file_type().expect("it has one").is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "md") {
                documents.push(path);
            }
        }
    }
    documents
}

#[test]
fn the_architecture_is_a_map() {
    let text = std::fs::read_to_string(repository().join("ARCHITECTURE.md")).expect("it is there");
    let words = text.split_whitespace().count();
    assert!(
        words <= ARCHITECTURE_WORDS_MAX,
        "ARCHITECTURE.md has {words} words, and at most {ARCHITECTURE_WORDS_MAX} are read; reasons go to {DECISIONS}"
    );
}

/// The table says which crate may depend on which, and so does what checks it.
#[test]
fn the_crates_of_the_map_stand_in_the_order_that_is_checked() {
    let read = |path: &str| std::fs::read_to_string(repository().join(path)).expect("it is there");
    let (map, edges) = (read("ARCHITECTURE.md"), read("xtask/src/edges.rs"));
    let (_, order) = edges.split_once("const ORDER").expect("it has an order");
    let (_, order) = order.split_once("= [").expect("which is a list");
    let order: Vec<&str> =
        order.split("];").next().unwrap_or_default().split('"').skip(1).step_by(2).collect();
    let (_, table) = map.split_once("## The crates").expect("the map has crates");
    let (table, _) = table.split_once("\n## ").expect("and more behind them");
    let rows: Vec<&str> =
        table.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(rows, order);
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    for document in documents() {
        for link in Page::read(&document).links() {
            let (file, place) = link.split_once('#').unwrap_or((link.as_str(), ""));
            let target = match file {
                "" => document.clone(),
                file => document.parent().expect("it is in a folder").join(file),
            };
            let leads = repository().join(&target).exists()
                && (place.is_empty() || Page::read(&target).anchors().contains(place));
            if !leads {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

/// Code and files move; what names them must follow.
#[test]
fn every_path_that_the_map_and_the_decisions_name_exists() {
    let is_named_there = |document: &PathBuf| {
        document.starts_with(DECISIONS)
            || matches!(document.to_str(), Some("ARCHITECTURE.md" | "CONTRIBUTING.md"))
    };
    let folders = [
        "bench",
        "crates",
        "docs",
        "experiments",
        "fuzz",
        "planted",
        "published",
        "scripts",
        "stacks",
        "web",
    ];
    let mut gone = Vec::new();
    for document in documents().into_iter().filter(is_named_there) {
        let page = Page::read(&document);
        for code in page.prose.lines().flat_map(|line| line.split('`').skip(1).step_by(2)) {
            let path = code.split(' ').next().unwrap_or_default();
            let is_of_us = path.split_once('/').is_some_and(|(folder, _)| folders.contains(&folder));
            if is_of_us && !repository().join(path).exists() {
                gone.push(format!("{}: {path}", document.display()));
            }
        }
    }
    assert!(gone.is_empty(), "paths that are not there:\n{}", gone.join("\n"));
}

#[test]
fn every_decision_is_in_the_index() {
    let mut there = BTreeSet::new();
    for entry in std::fs::read_dir(repository().join(DECISIONS)).expect("it is a folder") {
        let name = entry.expect("it can be read").file_name().into_string().expect("it is text");
        if name != ENGLISH {
            let page = Page::read(Path::new(DECISIONS).join(&name));
            let head = page.prose.lines().next().unwrap_or_default();
            let (number, title) = head.trim_start_matches("# ").split_once(". ").unwrap_or_default();
            assert!(name.starts_with(&format!("{number}-")), "{name} begins with `{head}`");
            there.insert(format!("- [{number}]({name}) {title}"));
        }
    }
    let index = Page::read(Path::new(DECISIONS).join(ENGLISH));
    let listed: BTreeSet<String> =
        index.prose.lines().filter(|line| line.starts_with("- [")).map(str::to_owned).collect();
    let missing: Vec<_> = there.difference(&listed).collect();
    let surplus: Vec<_> = listed.difference(&there).collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "the index of {DECISIONS} lacks {missing:#?} and has {surplus:#?}"
    );
}

/// What is compared of a block: of commands all but the comments, which are translated, and of anything else all.
fn untranslated((language, text): &(String, String)) -> String {
    let without_comment = |line: &str| line.split(" #").next().unwrap_or_default().trim_end().to_owned();
    match language.as_str() {
        "sh" => text.lines().map(without_comment).collect::<Vec<_>>().join("\n"),
        _ => text.clone(),
    }
}

#[test]
fn the_chinese_readme_has_the_commands_outputs_and_links_of_the_english_one() {
    let (english, chinese) = (Page::read(ENGLISH), Page::read(CHINESE));
    let blocks = |page: &Page| page.blocks.iter().map(untranslated).collect::<Vec<_>>();
    let (blocks_of_english, blocks_of_chinese) = (blocks(&english), blocks(&chinese));
    for (index, (due, is)) in blocks_of_english.iter().zip(&blocks_of_chinese).enumerate() {
        let number = index + 1;
        assert!(due == is, "block {number} of {ENGLISH} is\n{due}\nand of {CHINESE}\n{is}");
    }
    assert_eq!(
        blocks_of_english.len(),
        blocks_of_chinese.len(),
        "{ENGLISH} and {CHINESE} have as many blocks"
    );

    let links = |page: &Page, other: &str| {
        let mut links = page.links();
        let to_other = links.iter().position(|link| link == other);
        links.remove(to_other.unwrap_or_else(|| panic!("there is no link to {other}")));
        links.sort();
        links
    };
    let (due, is) = (links(&english, CHINESE), links(&chinese, ENGLISH));
    let lacks: Vec<_> = due.iter().filter(|link| !is.contains(link)).collect();
    let surplus: Vec<_> = is.iter().filter(|link| !due.contains(link)).collect();
    assert!(
        due == is,
        "{CHINESE} lacks links to {lacks:?}, has others to {surplus:?}, {} links for {}",
        is.len(),
        due.len()
    );
}

/// What is compared of both tutorials are the commands.
#[test]
fn the_chinese_tutorial_has_the_commands_of_the_english_one() {
    let [english, chinese] = ["docs/tutorial.md", "docs/tutorial.zh-CN.md"].map(Page::read);
    assert_eq!(english.blocks, chinese.blocks);
    let count = |page: &Page| page.prose.lines().filter(|line| line.starts_with('#')).count();
    assert_eq!(count(&english), count(&chinese));
}

/// What is in no table of contents is on no page of the site.
#[test]
fn every_document_is_in_the_table_of_contents() {
    let contents = PathBuf::from("docs/SUMMARY.md");
    let listed: BTreeSet<String> = Page::read(&contents).links().into_iter().collect();
    // scripts/site.sh adds each decision below their index.
    let is_page = |path: &&PathBuf| path.starts_with("docs") && **path != contents;
    let is_decision = |name: &str| name.starts_with("decisions/") && name != "decisions/README.md";
    let missing: Vec<String> = documents()
        .iter()
        .filter(is_page)
        .map(|path| path.strip_prefix("docs").expect("it is in there").display().to_string())
        .filter(|name| !listed.contains(name) && !is_decision(name))
        .collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md lacks {missing:?}");
}

/// The kinds are those of the schema that is made of the code.
#[test]
fn the_guide_of_explain_names_the_kinds_of_verdicts_that_there_are() {
    let schema = json(&run(&["report", "--schema"]));
    let variants = schema["$defs"]["VerdictKind"]["oneOf"].as_array().expect("it is an enum").clone();
    let known: BTreeSet<String> =
        variants.iter().map(|it| it["const"].as_str().expect("it has a name").to_owned()).collect();
    let guide = Page::read("docs/explain.md");
    let rows = guide.prose.lines().skip_while(|line| *line != "| verdict | kind | evidence |").skip(2);
    let kinds = rows.map_while(|row| row.strip_prefix('|')?.split('|').nth(1));
    let named: BTreeSet<String> =
        kinds.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect();
    let missing: Vec<_> = known.difference(&named).collect();
    let surplus: Vec<_> = named.difference(&known).collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "the table of docs/explain.md lacks {missing:?} and has {surplus:?}, which explain never says"
    );
}

/// In `docs/verdicts` stands what the records of the write-ups come to.
#[test]
fn the_verdicts_are_those_of_the_records() {
    let of = |arguments: [&str; 2]| String::from_utf8(run(&arguments).stdout).expect("it is text");
    for entry in std::fs::read_dir(repository().join("docs/verdicts")).expect("it is a folder") {
        let path = entry.expect("it can be read").path();
        if path.extension().is_none_or(|it| it != "txt") {
            continue;
        }
        let name = path.file_stem().and_then(|it| it.to_str()).expect("it is text");
        let measured = records_of(&format!("docs/replication/{name}"));
        let sample = PathBuf::from(format!("docs/samples/records/{name}"));
        let parts = if measured.is_empty() { vec![sample] } else { measured };
        let of_part = |dir: &PathBuf| {
            let dir = dir.to_str().expect("it is text");
            format!("{}\n{}", of(["report", dir]), of(["explain", dir]))
        };
        let told: String = parts.iter().map(of_part).collect();
        let kept = std::fs::read_to_string(&path).expect("it can be read");
        assert!(kept == told, "{}: run scripts/verdicts.sh", path.display());
    }
}

/// The records of a run of a write-up in the repository, bytes. One that is measured in parts has several.
const RECORDS_BYTES_MAX: u64 = 3 << 20;

/// What stands on the page of replications is a row for each that there are records of, and each of its claims with its verdict.
#[test]
fn the_page_of_replications_is_that_of_their_claims() {
    let folder = repository().join("docs/replication");
    let read = |path: PathBuf| std::fs::read_to_string(path).expect("it can be read");
    let page = read(folder.join(ENGLISH));
    let (_, told) = page.split_once("<!-- replications: begin -->\n").expect("it has a beginning");
    let (told, _) = told.split_once("<!-- replications: end -->").expect("which ends");
    let entries = std::fs::read_dir(&folder).expect("it is a folder").flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().join("records").is_dir())
        .map(|entry| entry.file_name().into_string().expect("it is text"))
        .collect();
    names.sort();
    let (mut rows, mut lists) = (Vec::new(), Vec::new());
    for name in names {
        for part in records_of(&format!("docs/replication/{name}")) {
            let kept = bytes_of(&repository().join(&part));
            assert!(
                kept <= RECORDS_BYTES_MAX,
                "{} has {kept} bytes, {RECORDS_BYTES_MAX} at most",
                part.display()
            );
        }
        let claims = read(folder.join(&name).join("claims.txt"));
        let counts = counts_of(&claims);
        rows.push(format!("| [{name}]({name}/claims.txt) | {counts} |\n"));
        let listed: Vec<String> = claims.lines().filter_map(claim_with_verdict).collect();
        assert!(
            counts.starts_with(&format!("{} ", listed.len())),
            "{name} has {counts}, and lists {listed:?}"
        );
        lists.push(format!("\nWhat {name} claims:\n\n{}\n", listed.join("\n")));
    }
    let due = ["| write-up | verdicts |\n|---|---|\n", &rows.concat(), &lists.concat()].concat();
    assert_eq!(told, due, "run scripts/replication.sh");
}

/// The first claims that were decided, as the READMEs tell them.
fn decided_of(claims: &str) -> String {
    let told = claims.lines().filter_map(|line| {
        let (verdict, sentence) = line.split_once(": ")?;
        let is_decided = ["CONFIRMED", "REVERSED", "TIED"].contains(&verdict)
            || verdict.starts_with("DIRECTION CONFIRMED");
        let (sentence, _) = sentence.rsplit_once(" [")?;
        is_decided.then(|| format!("**{}**: {sentence}", verdict.to_lowercase()))
    });
    told.take(3).collect::<Vec<_>>().join("<br>")
}

/// Both READMEs have a row for each write-up, with the count of its verdicts and its first claims, or that it was not measured.
#[test]
fn the_readmes_say_what_became_of_every_write_up() {
    let read = |path: &str| std::fs::read_to_string(repository().join(path)).expect("it can be read");
    let mut write_ups: Vec<String> = std::fs::read_dir(repository().join("published"))
        .expect("it is a folder")
        .map(|entry| entry.expect("it can be read").file_name().into_string().expect("it is text"))
        .filter_map(|file| file.strip_suffix(".toml").map(str::to_owned))
        .collect();
    write_ups.sort();
    for (readme, not_measured) in [(ENGLISH, "not measured yet"), (CHINESE, "尚未测量")] {
        let page = read(readme);
        let (_, told) = page.split_once("<!-- replications: begin -->\n").expect("it has a beginning");
        let (told, _) = told.split_once("<!-- replications: end -->").expect("which ends");
        let rows: Vec<&str> = told.lines().skip(2).collect();
        let due = write_ups.iter().map(|name| {
            let file = read(&format!("published/{name}.toml"));
            let title = file.lines().find_map(|line| line.strip_prefix("title = \"")?.strip_suffix('"'));
            let title = title.expect("it has a title");
            let claims = format!("docs/replication/{name}/claims.txt");
            match std::fs::read_to_string(repository().join(&claims)) {
                Ok(text) => format!("| [{title}]({claims}) | {} | {} |", counts_of(&text), decided_of(&text)),
                Err(_) => format!("| {title} | {not_measured} | |"),
            }
        });
        assert_eq!(rows, due.collect::<Vec<_>>(), "{readme}: run scripts/replication.sh");
    }
}

/// What replications take is what the command says.
#[test]
fn the_table_of_replications_is_what_they_say_themselves() {
    let page = Page::read("docs/experiments.md").prose;
    let rows: Vec<&str> = page
        .lines()
        .skip_while(|line| !line.starts_with("| `replicate` |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    let due = |name: &str| {
        let told = stdout(&run(&["replicate", name, "--dry-run", "--runs", "no-runs"]));
        let behind = |what: &str| {
            let (_, rest) = told.split_once(what)?;
            rest.split([';', '\n']).next().map(str::to_owned)
        };
        let trials =
            behind(" with twins and controls ").and_then(|it| Some(it.split_once(' ')?.0.to_owned()));
        let times = ["6 blocks at least: ", "20 at most: "]
            .map(|what| behind(what).and_then(|it| Some(it.split_once("about ")?.1.to_owned())));
        let [least, most] = times.map(Option::unwrap_or_default);
        format!("| `{name}` | {} | {least} | {most} |", trials.unwrap_or_default())
    };
    assert_eq!(rows.len(), 5);
    for row in rows {
        assert_eq!(row, due(row.split('`').nth(1).expect("a name")), "docs/experiments.md");
    }
}

/// What stands on the pages to choose by is what their script makes of the records beside them, or that there are none.
#[test]
fn the_pages_to_choose_by_are_made_of_their_records() {
    let (folder, made) = (repository().join("docs/choose"), tempfile::tempdir().expect("there is room"));
    let output = Command::new(repository().join("scripts/choose.sh"))
        .arg("--into")
        .arg(made.path())
        .env("PROOFLOAD", env!("CARGO_BIN_EXE_proofload"))
        .output()
        .expect("the script can be run");
    assert!(output.status.success(), "{}", text(&output));
    let read = |path: PathBuf| std::fs::read_to_string(path).expect("it can be read");
    for page in [ENGLISH, CHINESE] {
        assert_eq!(read(made.path().join(page)), read(folder.join(page)), "{page}: run scripts/choose.sh");
    }
    let english = read(folder.join(ENGLISH));
    for name in ["containers", "gateways", "threading"] {
        let records = folder.join(name).join("records");
        let experiment = format!("*Not measured yet.* `proofload run experiments/choose-{name}.toml`");
        assert_eq!(english.contains(&experiment), !records.is_dir(), "{name}");
        if records.is_dir() {
            let kept = bytes_of(&records);
            assert!(kept <= RECORDS_BYTES_MAX, "the records of {name} have {kept} bytes");
            let ranking = Path::new(name).join("ranking.txt");
            let told = read(folder.join(&ranking));
            assert_eq!(read(made.path().join(&ranking)), told, "{name}: run scripts/choose.sh");
            assert!(told.contains("To choose by: "), "{name} has no table to choose by");
        }
    }
}

/// The first columns of the tables on a page to choose by, and before the first row of each what it is of.
fn first_columns(page: &str) -> Vec<String> {
    let (mut title, mut of, mut rows) = ("", String::new(), Vec::new());
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            title = heading;
        } else if let Some(heading) = line.strip_prefix("### ") {
            let (_, load) = heading.split_once([':', '：']).expect("it says of which load it is");
            of = format!(" {title} ({})", load.trim());
        } else if line.starts_with("| ") && !line.starts_with(r"| \#") {
            let cells: Vec<&str> = line.splitn(4, " | ").collect();
            rows.push(format!("|{} {} | {} | {} |", std::mem::take(&mut of), cells[0], cells[1], cells[2]));
        }
    }
    rows
}

/// Both READMEs begin with who carries how much, as the pages to choose by have it of their records.
#[test]
fn the_readmes_say_who_carries_how_much() {
    let read = |path: &str| std::fs::read_to_string(repository().join(path)).expect("it can be read");
    for readme in [ENGLISH, CHINESE] {
        let page = read(readme);
        let (_, told) = page.split_once("<!-- chosen: begin -->\n").expect("it has a beginning");
        let (told, _) = told.split_once("<!-- chosen: end -->").expect("which ends");
        let rows: Vec<&str> = told.lines().skip(2).collect();
        let due = first_columns(&read(&format!("docs/choose/{readme}")));
        assert!(due.len() > 5, "{due:?}");
        assert_eq!(rows, due, "{readme}: run scripts/choose.sh");
    }
}

#[test]
fn the_table_of_others_plans_is_that_of_their_list() {
    let list = std::fs::read_to_string(repository().join("docs/samples/jmeter/plans.tsv")).unwrap();
    let page = std::fs::read_to_string(repository().join("docs/jmeter.md")).unwrap();
    let (_, told) = page.split_once("<!-- plans: begin -->\n").expect("it has a beginning");
    let (told, _) = told.split_once("<!-- plans: end -->").expect("it has an end");
    let plans: Vec<Vec<&str>> = list.lines().map(|line| line.split('\t').collect()).collect();
    let counted = |is: &dyn Fn(&str) -> bool| {
        let of: Vec<_> = plans.iter().filter(|plan| plan[4] == "http" && is(plan[0])).collect();
        (of.len(), of.iter().filter(|plan| plan[5] == "runs").count())
    };
    let rows: Vec<&str> = told.lines().skip(2).collect();
    let repositories: BTreeSet<&str> = plans.iter().map(|plan| plan[0]).collect();
    assert_eq!(rows.len(), repositories.len() + 1, "{told}");
    for row in rows {
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        let (all, whole) = counted(&|name| name == cells[0] || cells[0] == "all");
        assert_eq!([cells[1], cells[2]], [all.to_string(), whole.to_string()], "{row}");
        assert!(all > 0 || repositories.contains(cells[0]), "{row}");
    }
}

/// Of the files in a folder and below.
fn bytes_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).expect("it is a folder").flatten();
    let bytes = |entry: std::fs::DirEntry| match entry.metadata().expect("it is there") {
        it if it.is_dir() => bytes_of(&entry.path()),
        it => it.len(),
    };
    entries.map(bytes).sum()
}

/// The line that counts the verdicts of a write-up's claims.
fn counts_of(claims: &str) -> &str {
    let is_count = |line: &&str| line.split_once(" claims: ").is_some_and(|it| it.0.parse::<u32>().is_ok());
    claims.lines().find(is_count).expect("they are counted")
}

/// `VERDICT: sentence [id]` as an entry of a list.
fn claim_with_verdict(line: &str) -> Option<String> {
    let (verdict, claim) = line.split_once(": ")?;
    let (sentence, _) = claim.strip_suffix(']')?.rsplit_once(" [")?;
    let is_verdict = verdict.chars().all(|it| it.is_ascii_uppercase() || " ,".contains(it));
    is_verdict.then(|| format!("- **{}** – {sentence}", verdict.to_lowercase()))
}
