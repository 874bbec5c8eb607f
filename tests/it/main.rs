//! Tests of the whole program over real sockets.

mod http;
mod support;
