//! How requests are put together: of variables, functions and forms.

use super::*;

#[test]
fn a_request_is_put_together_from_variables_and_functions() {
    let step = RequestStep {
        name: t("buy ${item}"),
        method: t("POST"),
        url: t("http://${__P(host)}:8080/buy?i=${item}#part"),
        headers: vec![(t("X-User"), t("${__threadGroupName}-${__threadNum}"))],
        form: vec![(t("a b"), t("ü&"), true), (t("raw"), t("%20"), false)],
        keep_alive: false,
        ..request_step("a")
    };
    let mut scenario = scenario(1, vec![Step::Request(Box::new(step))]);
    scenario.variables = vec![("one".into(), t("1")), ("item".into(), t("x ${one}"))];
    let run = run(scenario, |_| Some(ok("")));
    let bytes = String::from_utf8(run.sent()[0].with_spec(http::encode).unwrap()).unwrap();
    let expected = "POST /buy?i=x%201 HTTP/1.1\r\nHost: server:8080\r\nUser-Agent: proofload/0.1.0\r\n\
        X-User: buyers-1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 21\r\n\
        Connection: close\r\n\r\na+b=%C3%BC%26&raw=%20";
    assert_eq!(bytes, expected);
    assert_eq!(run.sent()[0].label, "buy x 1");
    assert!(!run.sent()[0].reads_body);
}

#[test]
fn a_form_of_a_get_goes_into_the_query() {
    let form = vec![(t("a"), t("1 2"), true), (t("b"), t("3"), true)];
    for (url, expected) in [("http://s/x", "/x?a=1+2&b=3"), ("http://s/x?y=0", "/x?y=0&a=1+2&b=3")] {
        let step = RequestStep { url: t(url), form: form.clone(), ..request_step("a") };
        let run = run(scenario(1, vec![Step::Request(Box::new(step))]), |_| Some(ok("")));
        let bytes = String::from_utf8(run.sent()[0].with_spec(http::encode).unwrap()).unwrap();
        assert!(bytes.starts_with(&format!("GET {expected} HTTP/1.1\r\n")), "{bytes}");
    }
}

/// As in JMeter, which asks for a sampler's name when it has its address.
#[test]
fn a_name_has_what_was_drawn_for_its_address() {
    let step = RequestStep {
        name: t("${n} ${q}"),
        url: t("http://s/${__Random(7,7,n)}"),
        form: vec![(t("q"), t("${__Random(8,8,q)}"), true)],
        ..request_step("a")
    };
    let run = run(scenario(1, vec![Step::Request(Box::new(step))]), |_| Some(ok("")));
    assert_eq!(run.line(), "7 8");
    assert_eq!(run.sent()[0].url.as_str(), "http://s/7?q=8");
}

#[test]
fn what_a_variable_makes_unsendable_fails_with_a_reason() {
    for (value, part) in [("a\r\nEvil: 1", "header X"), ("\u{0}", "header X")] {
        let step = RequestStep { headers: vec![(t("X"), t("${v}"))], ..request_step("a") };
        let mut scenario = scenario(1, vec![Step::Request(Box::new(step)), request("b")]);
        scenario.variables.push(("v".into(), Template::text(value)));
        let run = run(scenario, |_| Some(ok("")));
        assert_eq!(run.line(), "! b");
        let Did::Unsent(message) = &run.did[0] else { panic!("{:?}", run.did) };
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn functions_give_what_they_should() {
    for (template, expected) in [
        ("${__time}", "1700000000000"),
        ("${__time(YMD)}", "20231114"),
        ("${__time(/1000,x)}${x}", "17000000001700000000"),
        ("${__Random(5,5)}", "5"),
        ("${__Random(9,5)}", "9"),
        ("${__Random(5,5,r)}${r}", "55"),
        ("${__RandomString(3,z)}", "zzz"),
        ("${__RandomString(0)}", ""),
        ("${__V(one)}${__V(no_${one})}", "1no_1"),
        ("${__V(none,d)}", "d"),
        ("${none}", "${none}"),
        ("${__intSum(1,${one},-5)}", "-3"),
        ("${__longSum(1,2,sum)}${sum}", "33"),
        ("${__urlencode(a b&c=ü)}", "a+b%26c%3D%C3%BC"),
        ("${__urldecode(a+b%26c%3D%C3%BC&d)}", "a b&c=ü&d"),
        ("${__base64Encode(ab)}${__base64Decode(YWI=)}", "YWI=ab"),
        ("${__base64Decode(!)}", "!"),
        (r"${__split(a-b-c,p,-)}${p_n}${p_2}", "a-b-c3b"),
        (r"${__split(a\,\,b\,,p)}${p}${p_n}${p_1}${p_2}${p_3}${p_4}${p_5}", "a,,b,a,,b,4a?b?${p_5}"),
        (r"${__split(\,a;b\,;c,p,\,;)}${p_n}${p_1}${p_2}${p_3}${p_4}", ",a;b,;c4ab?c"),
        (r"${__split(a\,b,p,)}${p_2}", "a,bb"),
        ("${__split(,p)}${p_n}${p_1}", "0${p_1}"),
        ("${__isVarDefined(one)}${__isVarDefined(two)}", "truefalse"),
        ("${__isPropDefined(host)}${__P(host)}${__P(x,y)}${__P(x)}", "trueservery1"),
        ("${__property(host,h)}${h}${__property(x)}${__property(x,,y)}", "serverserverxy"),
        ("${__if(${one},1,yes,no)}", "yes"),
        ("${__changeCase(aB)}${__changeCase(aB,LOWER)}${__changeCase(aB,CAPITALIZE)}", "ABabAB"),
        ("${__lowercase(AbÉ,l)}${l}${__uppercase(abé)}", "abéabéABÉ"),
        ("${__char(65,0x42,#43,0104,x,0xd83d,0xde00)}", "ABCD\u{1f600}"),
        ("${__log(a b,OUT,,why)}${__logn(c)}", "a b"),
        ("${__timeShift(yyyy-MM-dd HH:mm,,P1DT2H,x)}${x}", "2023-11-16 00:132023-11-16 00:13"),
        ("${__timeShift(,1000,-PT1S,en_US,x)}${x}", "00"),
        ("${__RandomFromMultipleVars(none|one|none,r)}${r}", "11"),
        ("${__RandomFromMultipleVars(none)}", ""),
        ("${__counter(TRUE)}${__counter(TRUE)}", "11"),
        ("${__TestPlanName}", "shop"),
    ] {
        let mut scenario = scenario(1, vec![set("result", template)]);
        scenario.variables.push(("one".into(), t("1")));
        let run = run(scenario, |_| None);
        assert_eq!(run.session.variable("result"), Some(expected), "{template}");
    }
}

#[test]
fn random_values_have_their_form() {
    let steps = vec![
        set("id", "${__UUID}"),
        set("s", "${__RandomString(40)}"),
        set("n", "${__Random(1,6)}"),
        request("a"),
    ];
    let run = run(scenario(1, steps), |_| Some(ok("")));
    let id = run.session.variable("id").unwrap();
    let form: String = id.chars().map(|c| if c.is_ascii_hexdigit() { 'x' } else { c }).collect();
    assert_eq!(form, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
    assert_eq!((&id[14..15], "89ab".contains(&id[19..20])), ("4", true), "{id}");
    assert!(run.session.variable("s").unwrap().bytes().all(|byte| byte.is_ascii_alphanumeric()));
    assert!((1..=6).contains(&run.session.variable("n").unwrap().parse::<i32>().unwrap()));
}

#[test]
fn one_of_several_variables_is_any_of_their_values() {
    let mut scenario = scenario(60, vec![set("r", "${__RandomFromMultipleVars(a|b)}"), request("${r}")]);
    for (name, value) in [("a_matchNr", "2"), ("a_1", "x"), ("a_2", "y"), ("a", "old"), ("b", "z")] {
        scenario.variables.push((name.into(), t(value)));
    }
    let ran = run(scenario, |_| Some(ok("")));
    let taken: std::collections::BTreeSet<&str> = ran.sent().iter().map(|it| it.label.as_str()).collect();
    assert_eq!(taken.into_iter().collect::<String>(), "xyz");
}

#[test]
fn counters_count_for_each_user_or_for_all() {
    let steps = vec![set("mine", "${__counter(TRUE)}"), set("ours", "${__counter(FALSE,o)}"), request("a")];
    let prepared = Prepared::new(scenario(2, steps)).unwrap();
    for (share, expected) in [
        (Share::WHOLE, [("2", "2"), ("2", "4")]),
        (Share { index: 2, of: NonZeroU32::new(3).unwrap() }, [("2", "6"), ("2", "12")]),
    ] {
        let mut world = world_of(1, share);
        for (user, (mine, ours)) in expected.into_iter().enumerate() {
            let mut run = Run::new(&prepared, user as u32);
            run.go(&mut world, 100, |_| Some(ok("")));
            assert_eq!((run.session.variable("mine"), run.session.variable("o")), (Some(mine), Some(ours)));
        }
    }
}
