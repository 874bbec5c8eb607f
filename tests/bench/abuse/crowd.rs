//! Clients that keep a server busy without need, in a process of their own: this benchmark run again.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use socket2::{Domain, Socket, Type};

use super::Result;

const ORDER: &str = "crowd";
/// How often a slow client sends an octet.
const OCTET_EVERY: Duration = Duration::from_secs(10);
/// How many of them share the sending: each of these groups has its turn within that time.
const GROUPS: usize = 100;
/// How many of them are connected at the same time.
const HANDS: usize = 16;
/// How many clients have addresses in one /24.
const PER_NETWORK: usize = 100;
const PATIENCE: Duration = Duration::from_secs(10);

/// What a client does.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Habit {
    /// One octet each ten seconds: of a message, or of a command.
    Slow,
    /// Nothing.
    Idle,
}

impl Habit {
    /// What part of their rate alone honest senders are to keep.
    pub(crate) const fn target(self) -> f64 {
        match self {
            Self::Slow => 0.8,
            Self::Idle => 0.9,
        }
    }
}

impl fmt::Display for Habit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Slow => "slow",
            Self::Idle => "idle",
        })
    }
}

/// A crowd that is there.
pub(crate) struct Crowd {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Crowd {
    /// Starts the process and waits until all of its clients are connected.
    pub(crate) fn gather(habit: Habit, clients: usize, server: SocketAddr) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args([ORDER, &habit.to_string(), &clients.to_string(), &server.to_string()]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut crowd = Self { child, input, output };
        let connected = crowd.number()?;
        if connected == clients { Ok(crowd) } else { Err(format!("{connected} of {clients} were let in").into()) }
    }

    /// Ends it; how often one of its clients was ended by the server and connected again.
    pub(crate) fn disperse(mut self) -> Result<usize> {
        drop(self.input.take());
        self.number()
    }

    fn number(&mut self) -> Result<usize> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().parse()?)
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// The orders to the process of a crowd.
#[derive(clap::Args)]
pub(crate) struct Orders {
    habit: Habit,
    clients: usize,
    server: SocketAddr,
}

impl Orders {
    /// Connects, says how many were greeted, keeps to the habit until the input ends, and says how often one that was
    /// ended has connected again.
    pub(crate) fn obey(&self) -> Result<()> {
        let mut clients = self.begin_all()?;
        println!("{}", clients.iter().flatten().count());
        let end = input_end();
        let mut again = 0;
        for group in (0..GROUPS).cycle() {
            match end.recv_timeout(OCTET_EVERY / u32::try_from(GROUPS)?) {
                Err(RecvTimeoutError::Timeout) => {}
                _ => break,
            }
            for number in (group..self.clients).step_by(GROUPS) {
                let stream = &mut clients[number];
                if !stream.as_ref().is_some_and(is_open) {
                    *stream = self.begin(number)?;
                    again += 1;
                }
                if let (Habit::Slow, Some(stream)) = (self.habit, stream) {
                    // One that has just been ended connects again at its next turn.
                    let _ = stream.write_all(b"x");
                }
            }
        }
        println!("{again}");
        Ok(())
    }

    /// All of them, in the order of their numbers.
    fn begin_all(&self) -> Result<Vec<Option<TcpStream>>> {
        let begin = |hand: usize| {
            let numbers = (hand..self.clients).step_by(HANDS);
            numbers.map(|number| self.begin(number).ok().flatten()).collect::<Vec<_>>()
        };
        let mut of_hands: Vec<_> = thread::scope(|scope| {
            let hands: Vec<_> = (0..HANDS).map(|hand| scope.spawn(move || begin(hand))).collect();
            hands.into_iter().map(|hand| hand.join().map(Vec::into_iter)).collect::<std::result::Result<_, _>>()
        })
        .map_err(|_| "a hand of the crowd panicked")?;
        Ok((0..self.clients).map(|number| of_hands[number % HANDS].next().flatten()).collect())
    }

    /// A client that was greeted; every second slow one goes on to a message.
    fn begin(&self, number: usize) -> Result<Option<TcpStream>> {
        let mut stream = connect(address(number)?, self.server)?;
        if !reply(&stream)?.starts_with("220") {
            return Ok(None);
        }
        if matches!(self.habit, Habit::Slow) && number.is_multiple_of(2) {
            stream.write_all(b"HELO crowd\r\nMAIL FROM:<>\r\nRCPT TO:<crowd@example.test>\r\nDATA\r\n")?;
            for _ in 0..4 {
                reply(&stream)?;
            }
        }
        stream.set_nonblocking(true)?;
        Ok(Some(stream))
    }
}

/// Tells when nothing more will be read: the process that gave the orders wants this one to end, or has ended.
fn input_end() -> Receiver<()> {
    let (sender, end) = channel();
    thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        drop(sender);
    });
    end
}

pub(crate) fn address(number: usize) -> Result<Ipv4Addr> {
    let (network, host) = (number / PER_NETWORK, number % PER_NETWORK + 1);
    Ok(Ipv4Addr::new(127, u8::try_from(1 + network / 256)?, u8::try_from(network % 256)?, u8::try_from(host)?))
}

/// Connects from an address of loopback.
pub(crate) fn connect(from: Ipv4Addr, server: SocketAddr) -> Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.bind(&SocketAddr::from((from, 0)).into())?;
    socket.connect_timeout(&server.into(), PATIENCE)?;
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// One reply of one line, octet by octet so that nothing behind it is taken.
pub(crate) fn reply(mut stream: &TcpStream) -> Result<String> {
    let begun = Instant::now();
    let mut line = Vec::new();
    while !line.ends_with(b"\n") && begun.elapsed() < PATIENCE {
        let mut octet = [0];
        if stream.read(&mut octet)? == 0 {
            break;
        }
        line.extend(octet);
    }
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

/// Whether nothing has come: neither a last word nor an end.
pub(crate) fn is_open(mut stream: &TcpStream) -> bool {
    stream.read(&mut [0]).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}
