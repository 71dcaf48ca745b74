//! Takes messages, and says when they are safe.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use thiserror::Error;

use crate::connection;
use crate::options::Options;
use crate::shared::{Message, Monitor, Shared, Taken};

/// A broker does not want this client. Trying again is of no use until somebody has done something.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the broker {broker}: {reason}")]
pub struct Refused {
    /// Which one.
    pub broker: String,
    /// What it says, and what to do.
    pub reason: String,
}

/// A session with a broker. For one thread; another one connects, again and again if need be.
#[derive(Debug)]
pub struct Subscriber {
    shared: Arc<Shared>,
    broker: String,
    thread: Option<JoinHandle<()>>,
}

impl Subscriber {
    /// Begins to connect.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn start(options: Options) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::new(&options));
        let broker = options.access.broker.to_string();
        let thread = connection::start(options, shared.clone())?;
        Ok(Self { shared, broker, thread: Some(thread) })
    }

    /// The next message, if one comes in this time.
    ///
    /// # Errors
    /// The broker does not want this client, and everything that it had sent before was taken.
    pub fn receive(&self, patience: Duration) -> Result<Option<Message>, Refused> {
        match self.shared.take(patience) {
            Taken::Message(message) => Ok(Some(message)),
            Taken::Nothing => Ok(None),
            Taken::Refused(reason) => Err(Refused { broker: self.broker.clone(), reason }),
        }
    }

    /// Everything that was received is safe: the broker need not keep it.
    pub fn acknowledge(&self) {
        self.shared.acknowledge();
    }

    /// Whether nothing more comes before [`acknowledge`](Self::acknowledge), as far as is known.
    pub fn is_waited_for(&self) -> bool {
        self.shared.is_waited_for()
    }

    /// To look at it.
    pub fn monitor(&self) -> Monitor {
        Monitor(self.shared.clone())
    }
}

impl Drop for Subscriber {
    /// Sends the acknowledgements that are left, if the broker takes them soon, and closes the connection; the session stays.
    fn drop(&mut self) {
        self.shared.stop();
        if let Some(thread) = self.thread.take() {
            // It has told of its end, whatever that is.
            let _ = thread.join();
        }
    }
}
