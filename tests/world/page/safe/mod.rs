//! Mail of strangers in the page: it stays text, loads nothing, and breaks neither the page nor its layout.

mod corpus;
mod links;
mod origins;
mod strangers;
