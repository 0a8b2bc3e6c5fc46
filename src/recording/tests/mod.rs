//! Tests of writer and reader together.

mod damage;
mod dropped_and_damaged_gaps;
mod encryption;
mod fixtures;
mod keyframes;
mod lifecycle;
mod model;
mod new_recording;
mod observation;
mod observed_time;
mod restart;
mod sealing;
mod tool_gaps;
mod tools;
mod version_gaps;
mod versions;
