//! Rows of data.

use super::*;

/// A scenario whose users send their row's name, with data of three rows.
fn of_rows(dir: &std::path::Path, at_end: DataAtEnd, sharing: DataSharing, iterations: u64) -> Arc<Prepared> {
    let file = dir.join("users.csv");
    std::fs::write(&file, "name,word\nanna,1\nben,2\ncleo,3\n").unwrap();
    let mut scenario = scenario(iterations, requests(&["${name}${word}"]));
    scenario.data.push(DataSet {
        file,
        variables: Vec::new(),
        delimiter: ',',
        quoted: true,
        skip_first: false,
        lacking: Lacking::Empty,
        at_end,
        sharing,
    });
    let mut second = scenario.groups[0].clone();
    second.name = "others".into();
    scenario.groups.push(second);
    Prepared::new(scenario).unwrap()
}

/// What users (group and number) do, one after another.
fn lines<const N: usize>(prepared: &Arc<Prepared>, share: Share, users: [(usize, u32); N]) -> [String; N] {
    let mut world = world_of(7, share);
    users.map(|(group, user)| {
        let mut run = Run::new(prepared, user);
        run.session = Session::new(prepared, group, user);
        run.go(&mut world, 100, |_| Some(ok("")));
        run.line()
    })
}

#[test]
fn users_take_rows_in_turn_with_all_with_their_group_or_alone() {
    let dir = tempfile::tempdir().unwrap();
    for (sharing, expected) in [
        (DataSharing::All, ["anna1 ben2", "cleo3 anna1", "ben2 cleo3"]),
        (DataSharing::Group, ["anna1 ben2", "cleo3 anna1", "anna1 ben2"]),
        (DataSharing::User, ["anna1 ben2"; 3]),
    ] {
        let prepared = of_rows(dir.path(), DataAtEnd::Recycle, sharing, 2);
        assert_eq!(lines(&prepared, Share::WHOLE, [(0, 0), (0, 1), (1, 0)]), expected, "{sharing:?}");
    }
}

/// JMeter's User Parameters: by the user's number, set one after another, where a row has a value.
#[test]
fn users_have_values_of_their_own() {
    let row = |texts: &[&str]| texts.iter().map(|text| t(text)).collect::<Vec<_>>();
    let (names, rows) = (vec!["x".to_owned(), "y".to_owned()], vec![row(&["1", "o${x}"]), row(&["2"])]);
    let values = Arc::new(UserValues { names, rows });
    let with_values = |values: &Arc<UserValues>, name: &str| {
        Step::Request(Box::new(RequestStep { sets: vec![Arc::clone(values)], ..request_step(name) }))
    };
    for steps in [
        vec![Step::SetByUser(Arc::clone(&values)), request("${x}${y}")],
        vec![with_values(&values, "${x}${y}")],
    ] {
        let mut scenario = scenario(1, steps);
        scenario.variables.push(("y".into(), t("-")));
        let prepared = Prepared::new(scenario).unwrap();
        assert_eq!(lines(&prepared, Share::WHOLE, [(0, 0), (0, 1), (0, 2)]), ["1o1", "2-", "1o1"]);
    }
    let none = Arc::new(UserValues { names: vec!["x".into()], rows: Vec::new() });
    assert_eq!(line(1, vec![set("x", "1"), with_values(&none, "${x}")]), "1");
    let counted = Arc::new(UserValues { names: vec!["n".into()], rows: vec![row(&["${__counter(TRUE)}"])] });
    let steps = vec![with_values(&counted, "a${n}"), with_values(&counted, "b${n}")];
    assert_eq!(line(2, steps), "a1 b2 a3 b4");
}

#[test]
fn after_the_last_row_comes_the_first_or_the_end() {
    let dir = tempfile::tempdir().unwrap();
    for (at_end, expected) in [
        (DataAtEnd::Recycle, "anna1 ben2 cleo3 anna1"),
        (DataAtEnd::StopUser, "anna1 ben2 cleo3"),
        (DataAtEnd::Eof, "anna1 ben2 cleo3 <EOF><EOF>"),
    ] {
        let prepared = of_rows(dir.path(), at_end, DataSharing::All, 4);
        assert_eq!(lines(&prepared, Share::WHOLE, [(0, 0)]), [expected], "{at_end:?}");
    }
}

#[test]
fn parts_of_a_load_deal_the_rows_out() {
    let dir = tempfile::tempdir().unwrap();
    let prepared = of_rows(dir.path(), DataAtEnd::StopUser, DataSharing::All, 5);
    let of = NonZeroU32::new(2).unwrap();
    assert_eq!(lines(&prepared, Share { index: 0, of }, [(0, 0)]), ["anna1 cleo3"]);
    assert_eq!(lines(&prepared, Share { index: 1, of }, [(0, 0)]), ["ben2"]);
}

/// Two data sets: of the numbers 1, 2, 3 as `n`, and of the letters a, b as `l`.
fn with_two(dir: &std::path::Path, iterations: u64, at_end: DataAtEnd, steps: Vec<Step>) -> Scenario {
    let mut scenario = scenario(iterations, steps);
    for (name, rows) in [("n", "1\n2\n3\n"), ("l", "a\nb\n")] {
        let file = dir.join(format!("{name}.csv"));
        std::fs::write(&file, rows).unwrap();
        scenario.data.push(DataSet {
            file,
            variables: vec![name.into()],
            delimiter: ',',
            quoted: false,
            skip_first: false,
            lacking: Lacking::AsBefore,
            at_end,
            sharing: DataSharing::All,
        });
    }
    scenario.groups[0].rows = Some(vec![0]);
    scenario
}

#[test]
fn a_row_is_taken_where_a_step_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let twice = |steps: Vec<Step>| Step::Loop { times: Times::Count(t("2")), steps };
    let steps = vec![request("${n}-${l}"), twice(vec![Step::Row(1), request("${n}${l}")])];
    let scenario = with_two(dir.path(), 2, DataAtEnd::Recycle, steps);
    assert_eq!(run(scenario, |_| Some(ok(""))).line(), "1-${l} 1a 1b 2-b 2a 2b");
}

#[test]
fn a_user_without_a_row_left_ends_in_the_midst_of_its_steps() {
    let dir = tempfile::tempdir().unwrap();
    let whole = Step::Transaction {
        name: t("whole"),
        with_pauses: false,
        parent_only: false,
        steps: vec![request("x"), Step::Row(1), request("${l}")],
    };
    let scenario = with_two(dir.path(), 3, DataAtEnd::StopUser, vec![whole, request("z")]);
    let run = run(scenario, |_| Some(ok("")));
    assert_eq!(run.line(), "x a z x b z x");
    let cut_off: Vec<bool> = run.transactions.iter().map(|it| it.cut_off).collect();
    assert_eq!(cut_off, [false, false, true], "{:?}", run.transactions);
}

#[test]
fn a_group_takes_rows_of_its_own_data_sets_only() {
    let dir = tempfile::tempdir().unwrap();
    let mut scenario = with_two(dir.path(), 2, DataAtEnd::StopUser, requests(&["${n}${l}"]));
    let mut second = scenario.groups[0].clone();
    second.rows = Some(vec![1]);
    scenario.groups.push(second);
    let prepared = Prepared::new(scenario.clone()).unwrap();
    let lines = lines(&prepared, Share::WHOLE, [(0, 0), (1, 0)]);
    assert_eq!(lines, ["1${l} 2${l}", "${n}a ${n}b"]);
    scenario.groups[1].rows = Some(vec![2]);
    let error = Prepared::new(scenario).unwrap_err().to_string();
    assert!(error.contains("there is no data set of number 2"), "{error}");
}
