//! Tests of the whole program over real sockets.

mod cli;
