//! The first answer that was not the expected one is kept, so that it can be shown.

use engine::{
    Action, Completion, Conn, Engine, Event, GoodStatus, KEPT_ANSWER_BYTES_MAX, KeptAnswer, Load, Sample,
    WrongAnswer,
};
use units::Duration;

use crate::common::{self, at};

fn answer(status: u16, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// What is kept of one user's answers, each of which comes in the pieces given: the first wrong one, and `keep_wrong` of them as
/// they came.
fn both(
    keep_wrong: u32,
    status: Option<u16>,
    body: Option<&str>,
    answers: &[&[&[u8]]],
) -> (Option<WrongAnswer>, Vec<KeptAnswer>) {
    let mut config = common::config(1, Load::SATURATING, Duration::from_secs(1));
    config.keep_wrong = keep_wrong;
    config.expect.status = status.map_or(GoodStatus::Success, GoodStatus::Only);
    config.expect.body = body.map(|body| body.as_bytes().into());
    let mut engine = Engine::new(config, |_: &Sample| {}, at(0));
    let tell = |engine: &mut Engine<_>, conn: Conn, event: Event<'_>| {
        engine.handle_completion(at(1), Completion { conn, event, arrived: None });
    };
    let Some(Action::Connect(conn)) = engine.poll_action(at(0)) else { panic!("it connects first") };
    tell(&mut engine, conn, Event::Connected);
    for pieces in answers {
        assert_eq!(engine.poll_action(at(1)), Some(Action::Send(conn)));
        tell(&mut engine, conn, Event::Sent);
        pieces.iter().for_each(|piece| tell(&mut engine, conn, Event::Received(piece)));
    }
    (engine.first_wrong_answer().cloned(), engine.kept_answers().to_vec())
}

/// The first wrong one of them.
fn kept(status: Option<u16>, body: Option<&str>, answers: &[&[&[u8]]]) -> Option<WrongAnswer> {
    let (first, as_they_came) = both(0, status, body, answers);
    assert_eq!(as_they_came, [], "nobody asked for them");
    let (same, _) = both(2, status, body, answers);
    assert_eq!(first, same, "whether others are kept or not");
    first
}

fn wrong(status: u16, body: Option<&str>) -> WrongAnswer {
    WrongAnswer { at: at(1), status, body_start: body.map(|body| body.as_bytes().to_vec()) }
}

#[test]
fn answers_as_expected_leave_nothing() {
    let good = answer(200, "good");
    assert_eq!(kept(None, Some("good"), &[&[&good], &[&good], &[&good[..9], &good[9..]]]), None);
    assert_eq!(kept(Some(404), None, &[&[&answer(404, "gone")]]), None);
}

#[test]
fn the_first_wrong_body_is_kept_however_it_came() {
    let (good, bad, other) = (answer(200, "good"), answer(200, "goat"), answer(200, "evil"));
    let expected = Some("good");
    // With a head that was seen before, with a new one, and in pieces.
    assert_eq!(
        kept(None, expected, &[&[&good], &[&good], &[&bad], &[&other]]),
        Some(wrong(200, Some("goat")))
    );
    assert_eq!(kept(None, expected, &[&[&bad], &[&good]]), Some(wrong(200, Some("goat"))));
    let split = bad.len() - 1;
    assert_eq!(
        kept(None, expected, &[&[&good], &[&bad[..split], &bad[split..]]]),
        Some(wrong(200, Some("goat")))
    );
    // Too short, too long, and none at all.
    assert_eq!(kept(None, expected, &[&[&answer(200, "go")]]), Some(wrong(200, Some("go"))));
    assert_eq!(kept(None, expected, &[&[&answer(200, "goodness")]]), Some(wrong(200, Some("goodness"))));
    assert_eq!(kept(None, expected, &[&[&answer(200, "")]]), Some(wrong(200, Some(""))));
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbad\r\n2\r\nly\r\n0\r\n\r\n";
    assert_eq!(kept(None, None, &[&[chunked]]), None);
    assert_eq!(kept(None, expected, &[&[chunked]]), Some(wrong(200, Some("badly"))));
}

#[test]
fn an_error_is_kept_with_the_beginning_of_its_page() {
    let error = answer(500, "it broke");
    assert_eq!(
        kept(None, None, &[&[&answer(200, "good")], &[&error], &[&error]]),
        Some(wrong(500, Some("it broke")))
    );
    assert_eq!(kept(Some(200), Some("good"), &[&[&error]]), Some(wrong(500, Some("it broke"))));
    // Nobody looks at bodies, so none is kept of an answer that came in pieces.
    assert_eq!(kept(None, None, &[&[&error[..20], &error[20..]]]), Some(wrong(500, None)));
    let long = "x".repeat(5000);
    let kept = kept(None, None, &[&[&answer(503, &long)]]).unwrap();
    assert_eq!((kept.status, kept.body_start.unwrap().len()), (503, 256));
}

#[test]
fn as_many_as_are_asked_for_are_kept_as_they_came() {
    let (good, error, other) = (answer(200, "good"), answer(500, "it broke"), answer(503, "so did this"));
    let of = |most, answers: &[&[&[u8]]]| -> Vec<Vec<u8>> {
        both(most, None, None, answers).1.into_iter().map(|it| it.bytes).collect()
    };
    // Of those that have a head that is known by then, too.
    let all: &[&[&[u8]]] =
        &[&[&error], &[&good], &[&error], &[&good], &[&other[..30], &other[30..]], &[&error]];
    assert_eq!(of(0, all), [] as [Vec<u8>; 0]);
    assert_eq!(of(1, all), [&error[..]]);
    assert_eq!(of(3, all), [error.clone(), error.clone(), other.clone()]);
    assert_eq!(of(9, all), [error.clone(), error.clone(), other, error]);
}

#[test]
fn what_is_kept_has_a_bound_and_says_where_it_was_cut() {
    let long = answer(500, &"x".repeat(KEPT_ANSWER_BYTES_MAX));
    let (_, kept) = both(2, None, None, &[&[&long[..9000], &long[9000..]], &[&answer(500, "short")]]);
    let told: Vec<(usize, bool)> = kept.iter().map(|it| (it.bytes.len(), it.is_cut)).collect();
    assert_eq!(told, [(KEPT_ANSWER_BYTES_MAX, true), (answer(500, "short").len(), false)]);
    assert!(long.starts_with(&kept[0].bytes));
}
