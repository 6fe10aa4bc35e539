//! Why a curl command is refused, and what to do instead.

use plan::{PlanError, without_user};

/// What to do instead, of options that people copy and that are not taken over.
const INSTEAD: [(&[&str], &str); 7] = [
    (
        &["--cacert", "-E", "--cert", "--key", "--ciphers", "--tls13-ciphers", "--tls-max", "--tlsv1.3"],
        "leave it out, and give --cacert, --cert, --key, --tls-max or --ciphers of hit itself",
    ),
    (&["-T", "--upload-file"], "leave it out, and give -m PUT and --body-file of hit itself"),
    (&["-r", "--range"], "write it as a header: -H 'Range: bytes=0-99'"),
    (&["--oauth2-bearer"], "write it as a header: -H 'Authorization: Bearer TOKEN'"),
    (&["--next", "-:"], "copy one request at a time, or use a scenario"),
    (&["-K", "--config"], "write what that file says into the command"),
    (
        &["--digest", "--ntlm", "--negotiate", "--anyauth"],
        "nobody is known by that here: give -u alone, or the header that the server takes",
    ),
];

/// `shown` is the option as it was written, perhaps among other letters.
pub(super) fn not_understood(option: &str, shown: &str) -> PlanError {
    let what = format!("curl's option {shown} is not understood");
    let instead = INSTEAD.iter().find(|(options, _)| options.contains(&option));
    let usual = "leave it out if the request does not depend on it";
    PlanError::new(what, instead.map_or(usual, |(_, help)| *help))
}

pub(super) fn lacks_its_value(option: &str) -> PlanError {
    PlanError::new(format!("curl's option {option} lacks its value"), "copy all of the command")
}

pub(super) fn no_url() -> PlanError {
    PlanError::new("the curl command has no URL", "copy all of it")
}

pub(super) fn two_urls(first: &str, second: &str) -> PlanError {
    let (first, second) = (without_user(first), without_user(second));
    let what = format!("the curl command has two URLs, {first} and {second}");
    PlanError::new(what, "copy one request at a time, or use a scenario")
}

/// `glob` is what curl makes several URLs of.
pub(super) fn several_requests(glob: &str) -> PlanError {
    let what = format!("curl makes several requests of the `{glob}` in its URL");
    let help = "write one of them, or a word such as {{int 1 100}}; beside -g it stays as it is";
    PlanError::new(what, help)
}

pub(super) fn bounds_a_request(option: &str) -> PlanError {
    let help = "leave it out, and give --timeout or --connect-timeout of hit";
    PlanError::new(format!("curl's option {option} bounds a request"), help)
}

pub(super) fn says_where_it_goes(option: &str) -> PlanError {
    let what = format!("curl's option {option} says where a connection goes");
    let help = "leave it out, and say that to hit itself: a load goes where its own options send it";
    PlanError::new(what, help)
}

pub(super) fn asks_for_a_password(user: &str) -> PlanError {
    let what = format!("curl's option -u {user} asks for a password");
    PlanError::new(what, format!("write it behind a colon: -u {user}:PASSWORD"))
}

pub(super) fn file_of_cookies(file: &str) -> PlanError {
    let what = format!("curl's option -b {file} names a file of cookies");
    PlanError::new(what, "write the cookies themselves: -b 'name=value'")
}

pub(super) fn form_file(option: &str, value: &str) -> PlanError {
    from_a_file(option, value, "leave all of the form out, and give its fields by --form of hit itself")
}

pub(super) fn from_a_file(option: &str, value: &str, help: &str) -> PlanError {
    PlanError::new(format!("curl's option {option} {value} takes what it sends from a file"), help)
}

/// Of a word of ours, which fills in lines of `file`.
pub(super) fn lines_of(file: &str) -> PlanError {
    let what = format!("the curl command takes what it sends from a file, by the word {{{{line {file}}}}}");
    let help =
        "leave the word out, and write it into an option of hit itself: -H, --body or --query-from-file";
    PlanError::new(what, help)
}

pub(super) fn form_beside_others() -> PlanError {
    let what = "the curl command has -F beside -d, -G or -I, which curl refuses";
    PlanError::new(what, "leave one of them out")
}

/// `line` is the header that says so.
pub(super) fn form_of_another_type(line: &str) -> PlanError {
    let what = format!("the curl command has -F, whose parts are no `{line}`");
    PlanError::new(what, "leave that header out")
}

pub(super) fn head_with_a_body() -> PlanError {
    let what = "the curl command has -I and a body, which curl refuses";
    PlanError::new(what, "leave one of them out")
}
