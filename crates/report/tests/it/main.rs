//! What people and programs are shown, from made-up records. A changed snapshot is a changed promise: look
//! at it as a reader would before accepting it (`INSTA_UPDATE=always cargo test -p proofload-report`).

mod audit;
mod calibration;
mod capacity;
mod check;
mod choice;
mod claims;
mod compare;
mod finite;
mod hit;
mod imitated;
mod page;
mod ranking;
mod samples;
mod why;
