//! Plans as users write them, and results as JMeter's readers read them.

mod bad_input;
mod carried_out;
mod elements;
mod jtl;
mod plans;
