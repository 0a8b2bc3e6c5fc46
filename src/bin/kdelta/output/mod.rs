//! Output formats and standard streams. Formats write to any `Write`, so that tests compare text; only `stdout` and
//! `messages` use the standard streams.

mod changes;
mod columns;
mod counts;
mod delimited;
mod get_watch;
mod history;
mod jq;
mod json;
mod json_lines;
mod listing;
pub(crate) mod log;
mod messages;
mod name;
mod query_plan;
mod region;
mod set_wait;
mod sorted;
mod stdout;
mod summary;
mod table;
mod template;
mod terminal;
mod tree;
mod typed;
mod wait;
mod watch_output;
mod yaml;

pub(crate) use changes::{ChangeForm, ChangeOptions};
pub(crate) use counts::{
    AggregateHeading, CountFormat, CountOptions, GroupColumns, GroupCount, GroupOrder, LiveCounts, Measure,
    ReadMember, write_counts,
};
pub(crate) use delimited::DelimitedFormat;
pub(crate) use get_watch::{GetWatchOptions, GetWatchOutput};
pub(crate) use history::{HistoryOptions, HistoryRows};
pub(crate) use jq::{JqComparison, JqProgram, JqResults};
pub(crate) use listing::{ItemFormat, ListedObject, Listing};
pub(crate) use messages::{Count, Level, Messages};
pub(crate) use query_plan::{PartPlan, PlannedRequest, QueryPlan, write_plan, write_plan_json};
pub(crate) use set_wait::{ConditionResult, ResultObject, WaitResult};
pub(crate) use sorted::OrderedListing;
pub(crate) use stdout::{ReaderWatch, Stdout, named, terminal_columns, terminal_size};
pub(crate) use summary::{SummaryRange, SummaryTable, write_brief, write_summary, write_summary_json};
pub(crate) use table::{RowWidth, TabRows};
pub(crate) use template::{Engine, PrintError};
pub(crate) use tree::{LiveTree, TreeForm, write_tree};
pub(crate) use typed::{
    EventFormat, EventOptions, EventStream, TypedDocuments, TypedFormat, event_list, narrow_json,
};
pub(crate) use wait::MetObjects;
pub(crate) use watch_output::{ChangeReceiver, RowOptions, WatchOutput};
