//! The examples of the guides, run by the programs that they are written for.

mod sign_up;
