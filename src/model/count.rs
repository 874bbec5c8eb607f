//! Numbers for those who watch the service.

/// One counter at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// What is counted, in camelCase.
    pub name: &'static str,
    /// Which of several counters with that name it is, in camelCase.
    pub label: Option<&'static str>,
    /// How often since the start.
    pub value: u64,
}

/// What counts.
pub trait Counts: std::fmt::Debug + Send + Sync {
    /// Every counter. Those of one name stand together.
    fn read(&self) -> Vec<Count>;
}
