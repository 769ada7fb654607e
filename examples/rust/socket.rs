//! The client's side of a WebSocket (RFC 6455) for text messages, over plain TCP.

use std::fs::File;
use std::io::{stdin, stdout, Error, ErrorKind, Read, Result, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

pub struct Socket {
    /// None if messages are lines of standard input and output.
    pub stream: Option<TcpStream>,
}

impl Socket {
    /// Connects to ``host:port`` and asks for the path and the subprotocol.
    pub fn open(address: &str, path: &str, subprotocol: &str) -> Result<Socket> {
        let target = address.to_socket_addrs()?.next();
        let target = target.ok_or_else(|| Error::new(ErrorKind::NotFound, "no such host"))?;
        let mut stream = TcpStream::connect_timeout(&target, Duration::from_secs(10))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let key = base64(&random(16));
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\n\
             Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Protocol: {subprotocol}\r\n\r\n"
        )?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).to_string();
        if !head.starts_with("HTTP/1.1 101") {
            let line = head.lines().next().unwrap_or("").to_string();
            return Err(Error::new(ErrorKind::InvalidData, line));
        }
        Ok(Socket { stream: Some(stream) })
    }

    fn stream(&mut self) -> &mut TcpStream {
        self.stream.as_mut().expect("a websocket")
    }

    /// Sets the time after which a silent server counts as gone.
    pub fn patience(&self, milliseconds: i64) -> Result<()> {
        match &self.stream {
            Some(stream) => stream.set_read_timeout(Some(Duration::from_millis(milliseconds as u64))),
            None => Ok(()),
        }
    }

    pub fn send(&mut self, text: &str) -> Result<()> {
        if self.stream.is_none() {
            writeln!(stdout(), "{text}")?;
            return stdout().flush();
        }
        self.frame(TEXT, text.as_bytes())
    }

    /// Returns the next message; an error with the reason when the connection is closed.
    pub fn receive(&mut self) -> Result<String> {
        if self.stream.is_none() {
            let mut line = String::new();
            let ended = stdin().read_line(&mut line)? == 0;
            return if ended { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(line) };
        }
        let mut message = Vec::new();
        loop {
            let mut head = [0; 2];
            self.stream().read_exact(&mut head)?;
            let length = match head[1] & 127 {
                126 => self.integer(2)?,
                127 => self.integer(8)?,
                short => short as usize,
            };
            let mut data = vec![0; length];
            self.stream().read_exact(&mut data)?;
            match head[0] & 15 {
                CLOSE => {
                    let reason = String::from_utf8_lossy(data.get(2..).unwrap_or(&[])).to_string();
                    return Err(Error::new(ErrorKind::ConnectionAborted, reason));
                }
                PING => self.frame(PONG, &data)?,
                PONG => {}
                _ => {
                    message.extend(data);
                    if head[0] & 128 != 0 {
                        return String::from_utf8(message)
                            .map_err(|error| Error::new(ErrorKind::InvalidData, error));
                    }
                }
            }
        }
    }

    fn integer(&mut self, bytes: usize) -> Result<usize> {
        let mut data = [0; 8];
        self.stream().read_exact(&mut data[8 - bytes..])?;
        Ok(u64::from_be_bytes(data) as usize)
    }

    fn frame(&mut self, kind: u8, data: &[u8]) -> Result<()> {
        let mut frame = vec![128 | kind];
        match data.len() {
            short @ 0..=125 => frame.push(128 | short as u8),
            length @ 126..=65535 => {
                frame.push(128 | 126);
                frame.extend((length as u16).to_be_bytes());
            }
            length => {
                frame.push(128 | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        let mask = random(4);
        frame.extend(&mask);
        frame.extend(data.iter().enumerate().map(|(index, byte)| byte ^ mask[index % 4]));
        self.stream().write_all(&frame)
    }
}

/// Returns random bytes of the system.
pub fn random(count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    let mut source = File::open("/dev/urandom").expect("the system has random bytes");
    source.read_exact(&mut bytes).expect("the system has random bytes");
    bytes
}

fn base64(data: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in data.chunks(3) {
        let bits = three.iter().fold(0u32, |bits, byte| bits << 8 | *byte as u32)
            << (8 * (3 - three.len()));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize] as char;
            text.push(if place <= three.len() { digit } else { '=' });
        }
    }
    text
}
