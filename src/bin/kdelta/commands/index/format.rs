//! The columns, order and format of the printed groups.

use crate::output::{
    AggregateHeading, CountFormat, CountOptions, DelimitedFormat, GroupColumns, GroupOrder, Measure,
    TypedFormat, terminal_columns,
};
use crate::session::Session;
use crate::settings::{self, CountOrder, Index, IndexFormat, IndexName};

/// The width of a terminal that does not report one.
const DEFAULT_WIDTH: usize = 80;

/// Returns the columns of the groups.
pub(super) fn columns(session: &Session, index: &Index) -> GroupColumns {
    let aggregates = index.aggregates.iter();
    GroupColumns {
        indices: index.by.iter().map(|by| by.index.to_string()).collect(),
        aggregates: aggregates
            .map(|column| AggregateHeading { aggregate: column.aggregate, path: column.path.clone() })
            .collect(),
        contexts: session.has_several_contexts().then(|| session.context_names()),
    }
}

/// Returns the order and format of the groups.
pub(super) fn options(index: &Index, stdout: settings::OutputStream) -> CountOptions {
    let order = match (index.order, index.ordering_aggregate()) {
        (CountOrder::Value, _) => GroupOrder::Value,
        (_, Some(position)) => GroupOrder::Measure(Measure::Aggregate(position)),
        (_, None) => GroupOrder::Measure(Measure::Count),
    };
    CountOptions { order, top: index.top, format: format(index, stdout), headers: index.headers }
}

fn format(index: &Index, stdout: settings::OutputStream) -> CountFormat {
    let documents = |format| CountFormat::Documents { format, for_terminal: stdout.is_terminal };
    match index.format {
        IndexFormat::Table => CountFormat::Table {
            bars_to: stdout.is_terminal.then(|| terminal_columns().unwrap_or(DEFAULT_WIDTH)),
            meaning: index.by.first().and_then(|by| meaning(&by.index)).filter(|_| stdout.colour),
        },
        IndexFormat::Json => documents(TypedFormat::Json),
        IndexFormat::Yaml => documents(TypedFormat::Yaml),
        IndexFormat::Kyaml => documents(TypedFormat::Kyaml),
        IndexFormat::Name => CountFormat::Names,
        IndexFormat::Csv => CountFormat::Delimited(DelimitedFormat::Csv),
        IndexFormat::Markdown => CountFormat::Delimited(DelimitedFormat::Markdown),
    }
}

/// Returns the heading of a column with the same values, such as PHASE for the field `status.phase`.
fn meaning(index: &IndexName) -> Option<String> {
    match index {
        IndexName::Field(path) => path.rsplit('.').next().map(str::to_uppercase),
        IndexName::Namespace
        | IndexName::Name
        | IndexName::Label(_)
        | IndexName::Annotation(_)
        | IndexName::Owner
        | IndexName::Node
        | IndexName::Image
        | IndexName::Cel(_) => None,
    }
}
