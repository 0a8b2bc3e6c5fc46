//! The macros over lists and maps.

use super::Evaluation;
use super::junction::Junction;
use crate::query::cel::error::CelError;
use crate::query::cel::functions::sorted_by;
use crate::query::cel::plan::{Fold, FoldKind, Plan};
use crate::query::cel::value::{Items, Outcome, Value, entries, insert};

impl<'a> Evaluation<'a> {
    pub(super) fn fold(&mut self, fold: &'a Fold) -> Outcome<'a> {
        let range = self.value(&fold.range)?;
        let mut items = Items::of(&range)?;
        match fold.kind {
            FoldKind::All => self.quantified(fold, &mut items, Junction::all("all")),
            FoldKind::Exists => self.quantified(fold, &mut items, Junction::any("exists")),
            FoldKind::ExistsOne => self.exists_one(fold, &mut items),
            FoldKind::Map | FoldKind::Filter => self.collected(fold, &mut items, range.is_map()),
            FoldKind::SortBy => self.sorted(fold, &range, &mut items),
            FoldKind::TransformMap | FoldKind::TransformMapEntry => self.transformed(fold, &mut items),
        }
    }

    /// Evaluates a part of a macro with its variables set to an item.
    fn with_item(
        &mut self,
        fold: &Fold,
        plan: &'a Plan,
        item: &(Value<'a>, Value<'a>),
        is_map: bool,
    ) -> Outcome<'a> {
        let known = self.locals.len();
        let (first, second) = item.clone();
        if fold.has_two {
            self.locals.push(first);
            self.locals.push(second);
        } else {
            self.locals.push(if is_map { first } else { second });
        }
        let result = self.value(plan);
        self.locals.truncate(known);
        result
    }

    /// Evaluates `all` and `exists`.
    fn quantified(&mut self, fold: &'a Fold, items: &mut Items<'a>, mut junction: Junction) -> Outcome<'a> {
        let is_map = items.is_map();
        while let Some(item) = items.next(&mut self.budget)? {
            if junction.add(self.with_item(fold, &fold.body, &item, is_map))? {
                return Ok(junction.decided());
            }
        }
        junction.undecided()
    }

    /// Whether the condition of a macro holds for an item.
    fn holds(
        &mut self,
        fold: &Fold,
        condition: Option<&'a Plan>,
        item: &(Value<'a>, Value<'a>),
        is_map: bool,
    ) -> Result<bool, CelError> {
        let Some(condition) = condition else { return Ok(true) };
        match self.with_item(fold, condition, item, is_map)? {
            Value::Bool(value) => Ok(value),
            _ => Err(CelError::NoOverload("a condition")),
        }
    }

    fn exists_one(&mut self, fold: &'a Fold, items: &mut Items<'a>) -> Outcome<'a> {
        let is_map = items.is_map();
        let mut count = 0;
        while let Some(item) = items.next(&mut self.budget)? {
            count += u32::from(self.holds(fold, Some(&fold.body), &item, is_map)?);
        }
        Ok(Value::Bool(count == 1))
    }

    /// Evaluates `map`, `filter` and `transformList`.
    fn collected(&mut self, fold: &'a Fold, items: &mut Items<'a>, is_map: bool) -> Outcome<'a> {
        let mut collected = Vec::new();
        while let Some(item) = items.next(&mut self.budget)? {
            if fold.kind == FoldKind::Filter {
                if self.holds(fold, Some(&fold.body), &item, is_map)? {
                    let (first, second) = item;
                    collected.push(if is_map { first } else { second });
                }
            } else if self.holds(fold, fold.filter.as_ref(), &item, is_map)? {
                collected.push(self.with_item(fold, &fold.body, &item, is_map)?);
            }
        }
        Ok(Value::made_list(collected))
    }

    fn transformed(&mut self, fold: &'a Fold, items: &mut Items<'a>) -> Outcome<'a> {
        let is_map = items.is_map();
        let mut made = Vec::new();
        while let Some(item) = items.next(&mut self.budget)? {
            if !self.holds(fold, fold.filter.as_ref(), &item, is_map)? {
                continue;
            }
            let value = self.with_item(fold, &fold.body, &item, is_map)?;
            if fold.kind == FoldKind::TransformMap {
                insert(&mut made, item.0, value, &mut self.budget)?;
                continue;
            }
            if !value.is_map() {
                return Err(CelError::NoOverload("transformMapEntry"));
            }
            for (key, value) in entries(&value, &mut self.budget)?.iter() {
                insert(&mut made, key.clone(), value.clone(), &mut self.budget)?;
            }
        }
        Ok(Value::Map(made.into()))
    }

    /// Evaluates `sortBy`.
    fn sorted(&mut self, fold: &'a Fold, range: &Value<'a>, items: &mut Items<'a>) -> Outcome<'a> {
        let mut keyed = Vec::new();
        if range.is_map() {
            return Err(CelError::NoOverload("sortBy"));
        }
        while let Some(item) = items.next(&mut self.budget)? {
            let key = self.with_item(fold, &fold.body, &item, false)?;
            keyed.push((key, item.1));
        }
        sorted_by(keyed, &mut self.budget)
    }
}
