//! kdelta
