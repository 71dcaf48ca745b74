//! Verification: every object that was acknowledged is read once, and every byte compared.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::Args;

use crate::acknowledged::Stored;
use crate::content::{Check, Content, Depth};
use crate::error::Result;
use crate::load::Objects;
use crate::measured::{Counts, Mark, Measured};
use crate::session::{Connect, Session, Sessions};
use crate::threads;

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    #[command(flatten)]
    connect: Connect,

    #[command(flatten)]
    objects: Objects,

    /// Connections.
    #[arg(long, default_value_t = 4)]
    clients: usize,
}

struct Work {
    sessions: Sessions,
    content: Content,
    stored: Vec<Stored>,
    next: AtomicUsize,
}

/// Prints how many objects were not as they should be, and which was the first.
pub(crate) fn run(arguments: &VerifyArguments) -> Result<()> {
    let work = Arc::new(Work {
        sessions: Sessions::new(&arguments.connect),
        content: arguments.objects.content()?,
        stored: arguments.objects.read()?,
        next: AtomicUsize::new(0),
    });
    threads::block_on(work.sessions.wait_until_ready())?;
    let mark = Mark::now(&[]);
    let readers = threads::start(arguments.clients, || {
        let work = work.clone();
        move || threads::block_on(read_some(work))
    });
    let mut counts = Counts::new()?;
    for reader in readers {
        counts.add(threads::join(reader)?)?;
    }
    Measured::new(&counts, mark.elapsed()).print()
}

async fn read_some(work: Arc<Work>) -> Result<Counts> {
    let mut counts = Counts::new()?;
    let mut session = None;
    while let Some(&stored) = work.stored.get(work.next.fetch_add(1, Ordering::Relaxed)) {
        let begin = Instant::now();
        let mut check = Check::new(work.content.object(stored.index), Depth::All);
        match read(&work, session.take(), stored, &mut check).await {
            Ok(still_open) => {
                session = Some(still_open);
                counts.request(check.bytes(), begin.elapsed());
                if !check.is_right() {
                    counts.wrong(stored.index);
                }
            }
            Err(problem) => counts.error(&problem),
        }
    }
    Ok(counts)
}

async fn read(
    work: &Work,
    session: Option<Session>,
    stored: Stored,
    check: &mut Check,
) -> Result<Session> {
    let mut session = match session {
        Some(session) => session,
        None => work.sessions.open().await?,
    };
    session.get(stored, check).await?;
    Ok(session)
}
