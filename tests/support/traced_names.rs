//! What a program did to the names in a directory, as strace shows it, and what a power cut leaves of that.
//!
//! What was synced is there. Of everything later an arbitrary subset is; a rename is there whole or not at all. The contents
//! of files are those that they had in the end.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use rand::RngExt;

use super::programs;

const CALLS: &str = "trace=openat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,rmdir,fsync,fdatasync";

/// A file or a directory, whatever its name.
type Node = usize;
/// The directory that is followed.
const ROOT: Node = 0;
type Place = (Node, String);
/// What is under each name of each directory.
type Names = BTreeMap<Place, Node>;

#[derive(Debug)]
enum Operation {
    Made { place: Place, node: Node },
    Removed { place: Place },
    Renamed { from: Place, to: Place, node: Node },
    Synced { directory: Node, covers: usize },
}

/// The names, and all operations on them.
pub(crate) struct TracedNames {
    root: PathBuf,
    base: Names,
    live: Names,
    log: Vec<Operation>,
    /// Of each file its octets, `None` for a directory.
    nodes: Vec<Option<Vec<u8>>>,
}

/// What is under each path of an image.
pub(crate) type Image = BTreeMap<PathBuf, Node>;

impl TracedNames {
    /// Follows a program, which must succeed, in a directory.
    pub(crate) fn follow(root: &Path, command: &Command) -> Self {
        let mut names =
            Self { root: root.to_owned(), base: Names::new(), live: Names::new(), log: Vec::new(), nodes: vec![None] };
        names.begin(ROOT, root);
        names.live = names.base.clone();
        let trace = tempfile::NamedTempFile::new().expect("a file");
        let mut traced = Command::new(programs::find("strace"));
        traced.args(["-f", "-y", "-s", "4096", "-e", CALLS, "-o"]).arg(trace.path());
        traced.arg(command.get_program()).args(command.get_args());
        traced.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ended = traced.output().expect("strace");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        names.read(&fs::read_to_string(trace).expect("trace"));
        for (path, node) in names.paths(&names.live) {
            if names.nodes[node].is_some() {
                names.nodes[node] = Some(fs::read(names.root.join(path)).expect("octets"));
            }
        }
        names
    }

    /// Takes what is in a directory at the beginning.
    fn begin(&mut self, directory: Node, path: &Path) {
        for entry in fs::read_dir(path).expect("list") {
            let entry = entry.expect("entry");
            let (node, path) = (self.nodes.len(), entry.path());
            self.base.insert((directory, entry.file_name().into_string().expect("a name")), node);
            self.nodes.push((!path.is_dir()).then(|| fs::read(&path).expect("octets")));
            if path.is_dir() {
                self.begin(node, &path);
            }
        }
    }

    fn read(&mut self, trace: &str) {
        let mut unfinished: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
        for line in trace.lines() {
            let (thread, line) = line.split_once(' ').expect("a thread");
            let line = line.trim_start();
            if let Some(begun) = line.strip_suffix("<unfinished ...>") {
                unfinished.insert(thread, (begun, self.log.len()));
            } else if let Some((_, rest)) = line.split_once(" resumed>") {
                let (begun, covers) = unfinished.remove(thread).expect("it was begun");
                self.read_call(&format!("{begun}{rest}"), covers);
            } else {
                self.read_call(line, self.log.len());
            }
        }
    }

    /// A call that had been begun after `covers` operations.
    fn read_call(&mut self, line: &str, covers: usize) {
        let Some((call, arguments)) = line.split_once('(') else { return };
        if line.contains(" = -1 ") || line.contains(" = ?") {
            return;
        }
        let paths: Vec<PathBuf> = arguments.split('"').skip(1).step_by(2).map(PathBuf::from).collect();
        // The file that the first argument stands for, under which names that are not absolute are.
        let first = arguments.split(['<', '>']).nth(1).map_or(Path::new(""), Path::new);
        let place = |names: &Self, nth: usize| names.place(&first.join(paths.get(nth)?));
        match call {
            "openat" if !arguments.contains("O_CREAT") => {}
            "openat" | "mkdir" | "mkdirat" => {
                let Some(place) = place(self, 0).filter(|place| !self.live.contains_key(place)) else { return };
                let node = self.nodes.len();
                self.nodes.push((call == "openat").then(Vec::new));
                self.live.insert(place.clone(), node);
                self.log.push(Operation::Made { place, node });
            }
            "rename" | "renameat" | "renameat2" => {
                let Some((from, to)) = place(self, 0).zip(place(self, 1)) else { return };
                let node = self.live.remove(&from).expect("what is renamed");
                self.live.insert(to.clone(), node);
                self.log.push(Operation::Renamed { from, to, node });
            }
            "unlink" | "unlinkat" | "rmdir" => {
                let Some(place) = place(self, 0) else { return };
                self.live.remove(&place);
                self.log.push(Operation::Removed { place });
            }
            _ => {
                let Some(directory) = self.node(first).filter(|node| self.nodes[*node].is_none()) else { return };
                self.log.push(Operation::Synced { directory, covers });
            }
        }
    }

    fn node(&self, path: &Path) -> Option<Node> {
        let mut node = ROOT;
        for part in path.strip_prefix(&self.root).ok()?.components() {
            let Component::Normal(name) = part else { return None };
            node = *self.live.get(&(node, name.to_str()?.to_owned()))?;
        }
        Some(node)
    }

    fn place(&self, path: &Path) -> Option<Place> {
        Some((self.node(path.parent()?)?, path.file_name()?.to_str()?.to_owned()))
    }

    fn paths(&self, names: &Names) -> Image {
        let mut paths = Image::new();
        let mut directories = vec![(ROOT, PathBuf::new())];
        while let Some((directory, path)) = directories.pop() {
            for ((_, name), node) in names.range((directory, String::new())..(directory + 1, String::new())) {
                let path = path.join(name);
                if self.nodes[*node].is_none() {
                    directories.push((*node, path.clone()));
                }
                paths.insert(path, *node);
            }
        }
        paths
    }

    /// How many operations there were.
    pub(crate) fn operations(&self) -> usize {
        self.log.len()
    }

    /// What a power cut after the first `cut` operations might leave.
    pub(crate) fn image(&self, cut: usize, random: &mut impl RngExt) -> Image {
        let mut synced: BTreeMap<Node, usize> = BTreeMap::new();
        for operation in &self.log[..cut] {
            if let Operation::Synced { directory, covers } = operation {
                let known = synced.entry(*directory).or_default();
                *known = (*known).max(*covers);
            }
        }
        let luck = [0.0, 0.2, 0.5, 0.8, 1.0][random.random_range(0..5)];
        let mut survives = |at: usize, (directory, _): &Place| {
            synced.get(directory).is_some_and(|covers| at < *covers) || random.random_bool(luck)
        };
        let mut names = self.base.clone();
        for (at, operation) in self.log[..cut].iter().enumerate() {
            match operation {
                Operation::Made { place, node } if survives(at, place) => {
                    names.insert(place.clone(), *node);
                }
                Operation::Removed { place } if survives(at, place) => {
                    names.remove(place);
                }
                Operation::Renamed { from, to, node } if survives(at, to) => {
                    names.remove(from);
                    names.insert(to.clone(), *node);
                }
                _ => {}
            }
        }
        self.paths(&names)
    }

    /// Makes the files of an image in an empty directory.
    pub(crate) fn write(&self, image: &Image, dir: &Path) {
        for (path, node) in image {
            match &self.nodes[*node] {
                Some(octets) => fs::write(dir.join(path), octets).expect("write"),
                None => fs::create_dir(dir.join(path)).expect("directory"),
            }
        }
    }
}
