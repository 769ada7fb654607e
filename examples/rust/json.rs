//! As much JSON as a bot needs: values, a parser and a writer.

use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Map(BTreeMap<String, Json>),
}

const NOTHING: Json = Json::Null;

impl Json {
    /// Makes a map from its fields.
    pub fn map(fields: &[(&str, Json)]) -> Json {
        Json::Map(fields.iter().map(|(name, value)| (name.to_string(), value.clone())).collect())
    }

    /// Returns a field; null if it is missing.
    pub fn get(&self, name: &str) -> &Json {
        match self {
            Json::Map(fields) => fields.get(name).unwrap_or(&NOTHING),
            _ => &NOTHING,
        }
    }

    /// Returns the text of a field; empty if it is missing.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Json::Text(text) => text,
            _ => "",
        }
    }

    /// Returns the number of a field; 0 if it is missing.
    pub fn number(&self, name: &str) -> i64 {
        match self.get(name) {
            Json::Number(number) => *number as i64,
            _ => 0,
        }
    }

    /// Returns the elements of a field; none if it is missing.
    pub fn list(&self, name: &str) -> &[Json] {
        match self.get(name) {
            Json::List(list) => list,
            _ => &[],
        }
    }

    /// Parses one value.
    pub fn parse(text: &str) -> Result<Json, String> {
        let mut parser = Parser { chars: text.chars().collect(), at: 0 };
        let value = parser.value()?;
        parser.space();
        if parser.at < parser.chars.len() {
            return parser.wrong();
        }
        Ok(value)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.to_string())
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Json {
        Json::Number(number as f64)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Json::Null => write!(out, "null"),
            Json::Bool(value) => write!(out, "{value}"),
            Json::Number(number) => write!(out, "{number}"),
            Json::Text(text) => quoted(text, out),
            Json::List(list) => {
                let parts: Vec<String> = list.iter().map(Json::to_string).collect();
                write!(out, "[{}]", parts.join(","))
            }
            Json::Map(fields) => {
                write!(out, "{{")?;
                for (index, (name, value)) in fields.iter().enumerate() {
                    write!(out, "{}", if index > 0 { "," } else { "" })?;
                    quoted(name, out)?;
                    write!(out, ":{value}")?;
                }
                write!(out, "}}")
            }
        }
    }
}

fn quoted(text: &str, out: &mut fmt::Formatter) -> fmt::Result {
    write!(out, "\"")?;
    for each in text.chars() {
        match each {
            '"' | '\\' => write!(out, "\\{each}")?,
            each if each < ' ' => write!(out, "\\u{:04x}", each as u32)?,
            each => write!(out, "{each}")?,
        }
    }
    write!(out, "\"")
}

struct Parser {
    chars: Vec<char>,
    at: usize,
}

impl Parser {
    fn value(&mut self) -> Result<Json, String> {
        self.space();
        match self.peek() {
            Some('{') => {
                let mut fields = BTreeMap::new();
                self.at += 1;
                while !self.ends('}') {
                    if !fields.is_empty() {
                        self.expect(',')?;
                    }
                    self.space();
                    let name = self.string()?;
                    self.space();
                    self.expect(':')?;
                    fields.insert(name, self.value()?);
                }
                Ok(Json::Map(fields))
            }
            Some('[') => {
                let mut list = Vec::new();
                self.at += 1;
                while !self.ends(']') {
                    if !list.is_empty() {
                        self.expect(',')?;
                    }
                    list.push(self.value()?);
                }
                Ok(Json::List(list))
            }
            Some('"') => Ok(Json::Text(self.string()?)),
            Some('t') => self.word("true", Json::Bool(true)),
            Some('f') => self.word("false", Json::Bool(false)),
            Some('n') => self.word("null", Json::Null),
            _ => {
                let from = self.at;
                while self.peek().is_some_and(|each| "+-.eE0123456789".contains(each)) {
                    self.at += 1;
                }
                let text: String = self.chars[from..self.at].iter().collect();
                text.parse().map(Json::Number).or_else(|_| self.wrong())
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let mut text = String::new();
        self.expect('"')?;
        loop {
            match self.next()? {
                '"' => return Ok(text),
                '\\' => match self.next()? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'b' => text.push('\u{8}'),
                    'f' => text.push('\u{c}'),
                    'u' => {
                        let mut code = self.code()?;
                        if (0xd800..0xdc00).contains(&code) {
                            self.expect('\\')?;
                            self.expect('u')?;
                            code = 0x10000 + ((code - 0xd800) << 10) + self.code()?.wrapping_sub(0xdc00);
                        }
                        text.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                    }
                    other => text.push(other),
                },
                other => text.push(other),
            }
        }
    }

    fn code(&mut self) -> Result<u32, String> {
        let mut digits = String::new();
        for _ in 0..4 {
            digits.push(self.next()?);
        }
        u32::from_str_radix(&digits, 16).or_else(|_| self.wrong())
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, String> {
        for each in word.chars() {
            self.expect(each)?;
        }
        Ok(value)
    }

    fn ends(&mut self, end: char) -> bool {
        self.space();
        let found = self.peek() == Some(end);
        self.at += found as usize;
        found
    }

    fn space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Result<char, String> {
        self.at += 1;
        self.chars.get(self.at - 1).copied().ok_or_else(|| "JSON ends early".to_string())
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.next()? == wanted {
            return Ok(());
        }
        self.wrong()
    }

    fn wrong<T>(&self) -> Result<T, String> {
        Err(format!("not JSON at character {}", self.at))
    }
}
