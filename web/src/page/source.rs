//! Where frames come from: the socket, files and addresses.

pub(super) mod file;
pub(super) mod socket;
