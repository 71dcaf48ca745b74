//! Who asked which connections there are, and which libraries have not answered yet.

use std::collections::{HashMap, HashSet};

use crate::matcher::ClientId;

/// Questions of one asker at a time.
const QUESTIONS_MAX: usize = 8;

/// A question, under the name that its asker gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) asker: ClientId,
    pub(crate) reference: u64,
}

/// Questions that are open, by the names under which libraries hear of them.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    open: HashMap<u64, (Asked, HashSet<ClientId>)>,
    next: u64,
}

impl Questions {
    /// A new one to these libraries. Its name, unless the asker has too many.
    pub(crate) fn ask(&mut self, asked: Asked, libraries: &[ClientId]) -> Option<u64> {
        if self.open.values().filter(|(of, _)| of.asker == asked.asker).count() >= QUESTIONS_MAX {
            return None;
        }
        self.next += 1;
        if !libraries.is_empty() {
            self.open.insert(self.next, (asked, libraries.iter().copied().collect()));
        }
        Some(self.next)
    }

    /// Whose question a library answers.
    pub(crate) fn answered(&self, question: u64, library: ClientId) -> Option<Asked> {
        let (asked, waiting) = self.open.get(&question)?;
        waiting.contains(&library).then_some(*asked)
    }

    /// A library has said all. Whose question it was.
    pub(crate) fn done(&mut self, question: u64, library: ClientId) -> Option<Asked> {
        let (asked, waiting) = self.open.get_mut(&question)?;
        let asked = waiting.remove(&library).then_some(*asked)?;
        if waiting.is_empty() {
            self.open.remove(&question);
        }
        Some(asked)
    }

    /// Somebody is gone: its questions are, and to those of others it says nothing more.
    pub(crate) fn leave(&mut self, client: ClientId) -> Vec<Asked> {
        self.open.retain(|_, (asked, _)| asked.asker != client);
        let open: Vec<_> = self.open.keys().copied().collect();
        open.into_iter().filter_map(|question| self.done(question, client)).collect()
    }
}
