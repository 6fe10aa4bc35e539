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
