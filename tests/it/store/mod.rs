//! What every store must do, and what the embedded one does when the power is cut.

mod conformance;
mod crash;
<<<<<<< HEAD
mod embedded;
mod faults;
=======
pub mod embedded;
>>>>>>> e2e
