//! One Lua state as wrk sets it up: the table `wrk`, and the script run in it.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

use mlua::{Function, Lua, Table, UserData, UserDataFields, UserDataMethods, Value};

use crate::transfer::transfer;

const PRELUDE: &str = include_str!("prelude.lua");

/// How long `wrk.connect` tries.
const CONNECT_TIMEOUT: StdDuration = StdDuration::from_secs(5);

/// Where a load goes to, as the script sees it.
#[derive(Debug, Clone)]
pub struct Url {
    /// `http` or `https`.
    pub scheme: String,
    /// Name or address.
    pub host: String,
    /// The port, where one was given.
    pub port: Option<String>,
    /// Path and query.
    pub path: String,
    /// `host[:port]`: the value of the Host field.
    pub authority: String,
    /// Header fields given on the command line.
    pub headers: Vec<(String, String)>,
}

/// What is wrong with a script, in one sentence with its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScriptError(pub(crate) String);

impl ScriptError {
    /// In the hook of that name.
    pub(crate) fn within(hook: &str, error: &mlua::Error) -> Self {
        Self(format!("{}, in {hook}()", first_line(error)))
    }
}

impl From<mlua::Error> for ScriptError {
    fn from(error: mlua::Error) -> Self {
        Self(first_line(&error))
    }
}

/// Lua's message without the stack below it, of the error that the others only wrap.
fn first_line(error: &mlua::Error) -> String {
    let innermost = match error {
        mlua::Error::CallbackError { cause, .. } => return first_line(cause),
        mlua::Error::RuntimeError(message) | mlua::Error::SyntaxError { message, .. } => message.clone(),
        other => other.to_string(),
    };
    innermost.lines().next().unwrap_or("an error without a message").to_owned()
}

/// A Lua state in which a script has been run.
#[derive(Debug, Clone)]
pub struct Environment {
    lua: Lua,
    stopped: Arc<AtomicBool>,
}

impl Environment {
    /// Runs `script`, the content of `file`, in a fresh state. Nothing of it is called yet.
    pub fn new(file: &Path, script: &str, url: &Url) -> Result<Self, ScriptError> {
        let lua = Lua::new();
        let wrk = lua.create_table()?;
        for (name, value) in
            [("scheme", &url.scheme), ("host", &url.host), ("path", &url.path), ("authority", &url.authority)]
        {
            wrk.set(name, value.as_str())?;
        }
        wrk.set("port", url.port.as_deref())?;
        wrk.set("lookup", lua.create_function(lookup)?)?;
        wrk.set("connect", lua.create_function(connect)?)?;
        lua.globals().set("wrk", &wrk)?;
        lua.load(PRELUDE).set_name("=wrk").exec()?;
        let headers: Table = wrk.get("headers")?;
        for (name, value) in &url.headers {
            headers.set(name.as_str(), value.as_str())?;
        }
        lua.load(script).set_name(format!("={}", file.display())).exec()?;
        Ok(Self { lua, stopped: Arc::default() })
    }

    /// Makes this the state of a load thread, and calls the script's `init` with the words from the URL on, which is number 0
    /// of them.
    pub fn init(&self, words: &[String]) -> Result<(), ScriptError> {
        let wrk = self.wrk()?;
        wrk.set("thread", self.thread())?;
        // wrk.init() fills in the request that is sent without a hook.
        let init: Function = wrk.get("init")?;
        let arguments = self.lua.create_table()?;
        for (number, word) in words.iter().enumerate() {
            arguments.raw_set(number, word.as_str())?;
        }
        init.call::<()>(arguments).map_err(|error| ScriptError::within("init", &error))?;
        self.flush()
    }

    /// Writes out what the script has printed: C keeps it back where standard output is no terminal, and what we print would
    /// come before it.
    pub(crate) fn flush(&self) -> Result<(), ScriptError> {
        Ok(self.lua.load("io.stdout:flush()").exec()?)
    }

    /// What stands for this state in another: `thread` in `setup`.
    pub(crate) fn thread(&self) -> Thread {
        Thread(self.clone())
    }

    pub(crate) fn lua(&self) -> &Lua {
        &self.lua
    }

    pub(crate) fn wrk(&self) -> Result<Table, ScriptError> {
        Ok(self.lua.globals().get("wrk")?)
    }

    /// The hook of that name, if the script defines it.
    pub(crate) fn hook(&self, name: &str) -> Option<Function> {
        self.lua.globals().get::<Function>(name).ok()
    }

    /// Whether the load is the same request again and again, so that the script need not be asked for it.
    pub fn is_constant(&self) -> bool {
        ["request", "response", "delay"].iter().all(|name| self.hook(name).is_none())
    }

    /// The request that is sent where there is no `request` hook.
    pub fn request(&self) -> Result<Vec<u8>, ScriptError> {
        let request: Function = self.wrk()?.get("request")?;
        let text: mlua::LuaString = request.call(())?;
        Ok(text.as_bytes().to_vec())
    }

    /// The address that `setup` gave this thread, if it did.
    pub fn address(&self) -> Result<Option<SocketAddr>, ScriptError> {
        match self.lua.named_registry_value::<Option<String>>(ADDRESS)? {
            None => Ok(None),
            Some(text) => text.parse().map(Some).map_err(|_| {
                ScriptError(format!(
                    "thread.addr is `{text}`, which is none of the addresses of wrk.lookup()"
                ))
            }),
        }
    }

    /// Whether the script has called `wrk.thread:stop()`.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

const ADDRESS: &str = "address";

/// A load thread as scripts see it.
pub(crate) struct Thread(Environment);

impl UserData for Thread {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("addr", |_, this| {
            this.0.lua.named_registry_value::<Option<String>>(ADDRESS)
        });
        fields.add_field_method_set("addr", |_, this, address: String| {
            this.0.lua.set_named_registry_value(ADDRESS, address)
        });
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |lua, this, name: String| {
            let value: Value = this.0.lua.globals().get(name)?;
            transfer(&value, lua)
        });
        methods.add_method("set", |_, this, (name, value): (String, Value)| {
            this.0.lua.globals().set(name, transfer(&value, &this.0.lua)?)
        });
        methods.add_method("stop", |_, this, ()| {
            this.0.stopped.store(true, Ordering::Relaxed);
            Ok(())
        });
    }
}

/// `wrk.lookup(host, service)`: its addresses, as text.
fn lookup(lua: &Lua, (host, service): (String, String)) -> mlua::Result<Table> {
    let port = match service.as_str() {
        "http" => 80,
        "https" => 443,
        other => other.parse().map_err(|_| {
            mlua::Error::RuntimeError(format!(
                "wrk.lookup: `{other}` is no port; give a number, \"http\" or \"https\""
            ))
        })?,
    };
    let found = (host.as_str(), port)
        .to_socket_addrs()
        .map_err(|error| mlua::Error::RuntimeError(format!("wrk.lookup: {host} has no address ({error})")))?;
    lua.create_sequence_from(found.map(|address| address.to_string()))
}

/// `wrk.connect(address)`: whether somebody listens there.
#[expect(clippy::needless_pass_by_value, reason = "what Lua hands over is ours")]
fn connect(_: &Lua, address: String) -> mlua::Result<bool> {
    let address: SocketAddr = address
        .parse()
        .map_err(|_| mlua::Error::RuntimeError(format!("wrk.connect: `{address}` is no address")))?;
    Ok(TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).is_ok())
}
