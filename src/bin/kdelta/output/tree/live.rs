//! A tree that is printed again after each change: in place on a terminal, otherwise below the last one.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::document::document;
use super::{TreeForm, write_tree};
use crate::output::region::{LiveRegion, fitted};
use crate::output::typed::TypedFormat;
use crate::output::{json, terminal_size};
use crate::view::{OwnerIndex, Tree};

/// The shortest time between two trees.
const INTERVAL: Duration = Duration::from_millis(25);
/// The time after which a tree on a terminal is compared with the screen, because ages grow and messages erase lines.
const REPAIR_INTERVAL: Duration = Duration::from_secs(1);

/// A tree that is printed again and again.
pub(crate) struct LiveTree<W> {
    form: TreeForm,
    tree: Tree,
    /// The region of the terminal, if the tree is drawn in place.
    region: Option<Arc<LiveRegion>>,
    /// The last printed tree, with ages at a fixed time, or the lines on the terminal.
    printed: Option<Vec<u8>>,
    printed_at: Option<Instant>,
    checked_at: Option<Instant>,
    out: W,
}

impl<W: Write> LiveTree<W> {
    /// Creates an empty tree. A table is drawn in the region of a terminal, if there is one.
    pub(crate) fn new(form: TreeForm, region: Option<Arc<LiveRegion>>, out: W) -> Self {
        let region = region.filter(|_| matches!(form, TreeForm::Table { .. }));
        let (printed, printed_at, checked_at) = (None, None, None);
        Self { form, tree: Tree::default(), region, printed, printed_at, checked_at, out }
    }

    /// Replaces the tree, which [`LiveTree::show`] prints.
    pub(crate) fn set(&mut self, tree: Tree) {
        self.tree = tree;
    }

    /// Returns the current tree.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the earliest time for the next tree.
    pub(crate) fn ready_at(&self) -> Option<Instant> {
        self.printed_at.map(|printed| printed + INTERVAL)
    }

    /// Returns the time at which the terminal is to be checked.
    pub(crate) fn repair_at(&self) -> Option<Instant> {
        let checked = self.checked_at.filter(|_| self.region.is_some())?;
        Some(checked + REPAIR_INTERVAL)
    }

    /// Prints the tree if it differs from the last one.
    ///
    /// # Errors
    /// The output can't be written.
    pub(crate) fn show(&mut self, index: &OwnerIndex, now: Instant) -> io::Result<()> {
        if self.region.is_some() {
            return self.draw(index, now, false);
        }
        let text = self.text(index, Timestamp::UNIX_EPOCH)?;
        if self.printed.as_ref() == Some(&text) {
            return Ok(());
        }
        let is_first = self.printed.is_none();
        match self.form {
            TreeForm::Documents { format: TypedFormat::Json, for_terminal } => {
                json::write(&text, for_terminal, &mut self.out)?;
            }
            TreeForm::Documents { .. } | TreeForm::Names | TreeForm::Dot | TreeForm::Mermaid => {
                self.separate(is_first)?;
                self.out.write_all(&text)?;
            }
            TreeForm::Table { .. } => {
                self.separate(is_first)?;
                let current = self.text(index, Timestamp::now())?;
                self.out.write_all(&current)?;
            }
        }
        self.out.flush()?;
        (self.printed, self.printed_at) = (Some(text), Some(now));
        Ok(())
    }

    /// Draws a tree on a terminal again if its ages have changed or a message has erased it.
    ///
    /// # Errors
    /// The output can't be written.
    pub(crate) fn repair(&mut self, index: &OwnerIndex, now: Instant) -> io::Result<()> {
        if self.repair_at().is_some_and(|at| at <= now) { self.draw(index, now, false) } else { Ok(()) }
    }

    /// Draws the last tree on a terminal, below which messages can follow.
    ///
    /// # Errors
    /// The output can't be written.
    pub(crate) fn finish(&mut self, index: &OwnerIndex, now: Instant) -> io::Result<()> {
        if self.printed.is_some() && self.region.is_some() {
            self.draw(index, now, true)?;
        }
        if let Some(region) = &self.region {
            region.release();
        }
        Ok(())
    }

    /// Writes the line between two trees.
    fn separate(&mut self, is_first: bool) -> io::Result<()> {
        match self.form {
            TreeForm::Documents { format: TypedFormat::Yaml, .. } => writeln!(self.out, "---"),
            TreeForm::Documents { .. } => Ok(()),
            _ if is_first => Ok(()),
            _ => writeln!(self.out),
        }
    }

    /// Returns the tree as text, with ages at this time.
    fn text(&self, index: &OwnerIndex, now: Timestamp) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        match self.form {
            TreeForm::Documents { format: TypedFormat::Json, .. } => {
                document(&self.tree, index).write_compact(&mut text);
                text.push(b'\n');
            }
            TreeForm::Table { headers, colour, namespaces, .. } => {
                let namespaces = namespaces || self.tree.has_several_namespaces(index);
                // Lines on a terminal are clipped by their characters.
                let colour = colour && self.region.is_none();
                let form = TreeForm::Table { headers, colour, namespaces, now };
                write_tree(&self.tree, index, form, &mut text)?;
            }
            form => write_tree(&self.tree, index, form, &mut text)?,
        }
        Ok(text)
    }

    fn draw(&mut self, index: &OwnerIndex, now: Instant, is_forced: bool) -> io::Result<()> {
        let Some(region) = self.region.clone() else { return Ok(()) };
        let (width, height) = terminal_size().unwrap_or((80, 24));
        let text = self.text(index, Timestamp::now())?;
        let lines = fitted(&String::from_utf8_lossy(&text), width, height);
        let joined = lines.join("\n").into_bytes();
        self.checked_at = Some(now);
        if !is_forced && self.printed.as_ref() == Some(&joined) && !region.is_erased() {
            return Ok(());
        }
        region.redraw(lines.len(), || {
            for line in &lines {
                writeln!(self.out, "{line}")?;
            }
            self.out.flush()
        })?;
        (self.printed, self.printed_at) = (Some(joined), Some(now));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use kdelta::object::{ApiResource, Ingest, Object};

    use super::*;
    use crate::view::TreeObject;

    /// Returns the index and the tree of one pod with this status message.
    fn pod(message: &str) -> (OwnerIndex, Tree) {
        let resource = Arc::new(ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: "pods".into(),
            kind: "Pod".into(),
            namespaced: true,
        });
        let json = br#"{"metadata":{"name":"a","uid":"u"}}"#;
        let object = Object::from_json(json, &Ingest::of(resource.type_meta())).expect("a pod");
        let mut object = TreeObject::of(&resource, &object).expect("a UID");
        message.clone_into(&mut object.message);
        let mut index = OwnerIndex::default();
        index.insert(object);
        let tree = Tree::of(&index, &["u".into()], None);
        (index, tree)
    }

    fn table() -> TreeForm {
        TreeForm::Table { headers: false, colour: false, namespaces: false, now: Timestamp::UNIX_EPOCH }
    }

    /// Shows two states, the second of them twice, and returns the output.
    fn shown(form: TreeForm) -> String {
        let mut out = Vec::new();
        let mut live = LiveTree::new(form, None, &mut out);
        for message in ["one", "two", "two"] {
            let (index, tree) = pod(message);
            live.set(tree);
            live.show(&index, Instant::now()).expect("a Vec takes all");
            live.repair(&index, Instant::now()).expect("a Vec takes all");
        }
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn equal_trees_are_printed_once() {
        assert_eq!(shown(table()), "pod/a         <unknown>   one\n\npod/a         <unknown>   two\n");
        assert_eq!(shown(TreeForm::Names), "pod/a\n", "the message is not part of the output");
        let json = shown(TreeForm::Documents { format: TypedFormat::Json, for_terminal: false });
        assert_eq!(json.lines().count(), 1, "objects without a status have no message: {json}");
        let yaml = shown(TreeForm::Documents { format: TypedFormat::Yaml, for_terminal: false });
        assert!(yaml.starts_with("---\nitems:\n"), "{yaml}");
        assert_eq!(shown(TreeForm::Dot).matches("digraph").count(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_terminal_is_drawn_again_after_a_message() {
        let region = Arc::new(LiveRegion::recording());
        let mut out = Vec::new();
        let mut live = LiveTree::new(table(), Some(Arc::clone(&region)), &mut out);
        let (index, tree) = pod("one");
        live.set(tree);
        live.show(&index, Instant::now()).expect("a Vec takes all");
        live.show(&index, Instant::now()).expect("a Vec takes all");
        assert!(region.erased().is_empty(), "nothing has changed");
        region.hide();
        live.repair(&index, Instant::now()).expect("a Vec takes all");
        tokio::time::advance(REPAIR_INTERVAL).await;
        live.repair(&index, Instant::now()).expect("a Vec takes all");
        live.finish(&index, Instant::now()).expect("a Vec takes all");
        assert_eq!(region.erased(), [1, 1], "by the message and before the last drawing");
        assert_eq!(String::from_utf8(out).expect("text").matches("pod/a").count(), 3);
    }
}
