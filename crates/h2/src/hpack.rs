//! HPACK (RFC 7541): header blocks as a server sends them, and those that a load sends.

mod decoder;
mod encoder;
mod fixed;
mod huffman;
mod integer;
mod known;
mod table;

pub use decoder::{Decoded, Decoder, Scratch};
pub use encoder::{field, indexed, literal, literal_of, resize};
pub use fixed::{FIXED, find as find_fixed};
pub use known::{Known, KnownBlocks};
pub use table::Table;
