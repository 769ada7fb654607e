//! A complete Plyhouse bot: protocol v1 over the subprotocol plyhouse.v1+json, with std alone.
//!
//! Usage: bot --server URL --token TOKEN --seek GAME [--rated] [--bot NAME] [--time-control T]
//!        [--matches N], or bot --stdio, which speaks by lines on standard input and output.
//! Exit codes: 0 all matches played, 1 no server, 2 wrong options, 4 refused.

mod json;
mod socket;

use json::Json;
use socket::{random, Socket};
use std::collections::{HashMap, HashSet};
use std::{env, process, thread, time::Duration};

const USAGE: &str = "usage: bot --server URL --token TOKEN --seek GAME [--rated] [--bot NAME]
           [--time-control T] [--matches N]
       bot --stdio";
const FIRST_ATTEMPTS: u32 = 6;
const FATAL: [&str; 8] = [
    "auth/bad_token", "auth/revoked", "auth/disabled", "auth/scope", "auth/bad_name", "auth/limit",
    "auth/replaced", "protocol/version",
];

struct Bot {
    options: HashMap<String, String>,
    /// The seat that we have in each running match.
    seats: HashMap<String, i64>,
    over: HashSet<String>,
    /// The types of the open requests, by id.
    requests: HashMap<i64, String>,
    last_id: i64,
    session: String,
    seeking: bool,
    leaving: bool,
    failures: u32,
}

fn main() {
    let mut options: HashMap<String, String> = [
        ("server", "http://127.0.0.1:8765"), ("bot", "rust"), ("time-control", "move:2"),
        ("matches", "1"), ("seek", ""), ("token", ""), ("rated", "false"), ("stdio", "false"),
    ]
    .iter()
    .map(|(name, value)| (name.to_string(), value.to_string()))
    .collect();
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let name = argument.trim_start_matches("--").to_string();
        if name == "help" {
            quit(0, USAGE);
        }
        let flag = name == "rated" || name == "stdio";
        let value = if flag { Some("true".to_string()) } else { arguments.next() };
        match value {
            Some(value) if options.contains_key(&name) => options.insert(name, value),
            _ => quit(2, &format!("unknown or incomplete option: {argument}\n{USAGE}")),
        };
    }
    let stdio = options["stdio"] == "true";
    if options["token"].is_empty() && !stdio {
        quit(2, "give the token of your player with --token");
    }
    let mut bot = Bot {
        options,
        seats: HashMap::new(),
        over: HashSet::new(),
        requests: HashMap::new(),
        last_id: 0,
        session: String::new(),
        seeking: false,
        leaving: false,
        failures: 0,
    };
    if stdio {
        let _ = bot.talk(Socket { stream: None }); // until the input ends
    } else {
        bot.run()
    }
}

impl Bot {
    /// Connects, and connects again after every break, waiting longer each time.
    fn run(&mut self) {
        let server = self.options["server"].clone();
        let address = server.trim_start_matches("http://").trim_end_matches('/').to_string();
        loop {
            let why = match self.connected(&address) {
                Ok(()) => String::new(),
                Err(error) => error.to_string(),
            };
            if self.leaving {
                quit(0, "all matches played");
            }
            self.failures += 1;
            if self.session.is_empty() && self.failures >= FIRST_ATTEMPTS {
                quit(1, &format!("no Plyhouse server at {server}: {why}"));
            }
            let longest = u64::min(30_000, 500 << u32::min(self.failures - 1, 6));
            let wait = longest / 2 + longest * random(1)[0] as u64 / 512;
            eprintln!("connection lost ({why}); next attempt in {wait} ms");
            thread::sleep(Duration::from_millis(wait));
        }
    }

    fn connected(&mut self, address: &str) -> std::io::Result<()> {
        self.talk(Socket::open(address, "/ws", "plyhouse.v1+json")?)
    }

    /// Says hello, and handles messages until there are no more.
    fn talk(&mut self, mut socket: Socket) -> std::io::Result<()> {
        self.requests.clear();
        self.seeking = false; // the server withdraws the seeks of a lost connection
        let games = match self.options["seek"].as_str() {
            "" => vec![],
            game => vec![game.into()],
        };
        let hello = [
            ("token", self.option("token")),
            ("bot", self.option("bot")),
            ("games", Json::List(games)),
            ("client", "rust-example/1.0".into()),
            ("session", self.session.as_str().into()),
            // The server may not have noticed yet that the old connection is gone.
            ("takeover", Json::Bool(!self.session.is_empty())),
        ];
        self.request(&mut socket, "hello", &hello)?;
        loop {
            let frame = socket.receive()?;
            let message = Json::parse(&frame).unwrap_or_else(|error| {
                quit(1, &format!("cannot read {frame}: {error}"));
            });
            self.handle(&mut socket, &message)?;
        }
    }

    /// Sends a request; the answer has its id in `re`.
    fn request(
        &mut self, socket: &mut Socket, kind: &str, fields: &[(&str, Json)],
    ) -> std::io::Result<()> {
        self.last_id += 1;
        self.requests.insert(self.last_id, kind.to_string());
        let mut all = vec![("type", kind.into()), ("id", self.last_id.into())];
        all.extend(fields.iter().cloned());
        socket.send(&Json::map(&all).to_string())
    }

    fn handle(&mut self, socket: &mut Socket, message: &Json) -> std::io::Result<()> {
        let answered = self.requests.remove(&message.number("re")).unwrap_or_default();
        match message.text("type") {
            "welcome" => self.welcome(socket, message),
            "ping" => {
                // A bot that thinks for long does so in another thread, and answers meanwhile.
                let pong = [("type", "pong".into()), ("re", message.get("id").clone())];
                socket.send(&Json::map(&pong).to_string())
            }
            "match" => self.enter(socket, message.get("snapshot")),
            "turn" => self.play(
                socket, message.text("match"), message.number("ply"), message.get("observation"),
            ),
            "finished" => self.finished(socket, message.text("match"), message.get("outcome")),
            "challenged" => {
                // The challenger chooses the clock, so rated matches come by our own seeks only.
                let accept = Json::Bool(*message.get("rated") != Json::Bool(true));
                let fields = [("challenge", message.get("challenge").clone()), ("accept", accept)];
                self.request(socket, "answer", &fields)
            }
            "error" => {
                let shown = format!("{}: {}", message.text("code"), message.text("message"));
                let fatal = FATAL.contains(&message.text("code"));
                if fatal || (answered == "hello" && self.session.is_empty()) {
                    quit(4, &shown);
                }
                if answered == "hello" {
                    // The server lacks its database, say: our matches wait.
                    return Err(std::io::Error::new(std::io::ErrorKind::Other, shown));
                }
                if answered == "seek" {
                    quit(1, &format!("cannot seek: {shown}"));
                }
                eprintln!("refused {answered}: {shown}"); // a late answer, for instance
                Ok(())
            }
            "notice" => {
                eprintln!("notice {}", message.text("message"));
                Ok(())
            }
            _ => Ok(()), // ok, accepted, update, and messages of newer servers
        }
    }

    fn welcome(&mut self, socket: &mut Socket, message: &Json) -> std::io::Result<()> {
        eprintln!("connected as {}/{}", message.text("player"), message.text("bot"));
        self.session = message.text("session").to_string();
        self.failures = 0;
        socket.patience(2 * message.number("heartbeat_ms") + 1000)?;
        let running = message.list("matches");
        for snapshot in running {
            self.enter(socket, snapshot)?;
        }
        let missed: Vec<String> = self
            .seats
            .keys()
            .filter(|id| !running.iter().any(|snapshot| snapshot.text("match") == **id))
            .cloned()
            .collect();
        for id in missed {
            // It ended while we were away.
            self.finished(socket, &id, &Json::map(&[("termination", "unknown".into())]))?;
        }
        self.seek(socket)
    }

    /// Asks for the matches that are missing.
    fn seek(&mut self, socket: &mut Socket) -> std::io::Result<()> {
        let missing = self.wanted() - self.over.len() as i64 - self.seats.len() as i64;
        if self.seeking || missing <= 0 || self.options["seek"].is_empty() {
            return Ok(());
        }
        self.seeking = true;
        let fields = [
            ("game", self.option("seek")),
            ("time_control", self.option("time-control")),
            ("rated", Json::Bool(self.options["rated"] == "true")),
            ("count", missing.into()),
        ];
        self.request(socket, "seek", &fields)
    }

    /// Takes a match as the server shows it: at its beginning, or after a reconnect.
    fn enter(&mut self, socket: &mut Socket, snapshot: &Json) -> std::io::Result<()> {
        let id = snapshot.text("match");
        if self.over.contains(id) {
            return Ok(());
        }
        self.seats.insert(id.to_string(), snapshot.number("seat"));
        match snapshot.text("status") {
            "finished" => self.finished(socket, id, snapshot.get("outcome")),
            "waiting" => {
                // Our part of the randomness: with it, the server alone cannot choose the dice.
                let nonce: String = random(16).iter().map(|byte| format!("{byte:02x}")).collect();
                let fields = [("match", id.into()), ("nonce", nonce.as_str().into())];
                self.request(socket, "ready", &fields)
            }
            _ if *snapshot.get("your_turn") == Json::Bool(true) => {
                self.play(socket, id, snapshot.number("ply"), snapshot.get("observation"))
            }
            _ => Ok(()),
        }
    }

    fn play(
        &mut self, socket: &mut Socket, id: &str, ply: i64, observation: &Json,
    ) -> std::io::Result<()> {
        let fields = [("match", id.into()), ("ply", ply.into()), ("action", choose(observation))];
        self.request(socket, "act", &fields)
    }

    fn finished(&mut self, socket: &mut Socket, id: &str, outcome: &Json) -> std::io::Result<()> {
        let Some(seat) = self.seats.remove(id) else { return Ok(()) };
        self.over.insert(id.to_string());
        let own = outcome.list("returns").get(seat as usize).unwrap_or(&Json::Null);
        eprintln!("finished {id}: {}, we got {own}", outcome.text("termination"));
        if self.over.len() as i64 >= self.wanted() && self.seats.is_empty() {
            self.leaving = true;
            return self.request(socket, "bye", &[]);
        }
        Ok(())
    }

    fn option(&self, name: &str) -> Json {
        self.options[name].as_str().into()
    }

    fn wanted(&self) -> i64 {
        self.options["matches"].parse().unwrap_or_else(|_| quit(2, "--matches takes a number"))
    }
}

/// Chooses an action: your bot begins here. This one plays at random, in every game.
fn choose(observation: &Json) -> Json {
    let legal = observation.list("legal");
    let number = u32::from_be_bytes(random(4).try_into().expect("four bytes"));
    legal[number as usize % legal.len()].clone()
}

fn quit(code: i32, line: &str) -> ! {
    if code == 0 { println!("{line}") } else { eprintln!("{line}") }
    process::exit(code)
}
