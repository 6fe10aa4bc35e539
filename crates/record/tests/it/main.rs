//! What is promised of a run directory, of the files in it, and of the figures.

mod distribution;
mod hlog;
mod hostile;
mod run_dir;
mod samples;
mod trial;
