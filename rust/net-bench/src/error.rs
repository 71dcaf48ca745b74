//! What can go wrong.

use std::io;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{what}: {cause}")]
    System { what: String, cause: io::Error },

    #[error("{0}")]
    Said(String),

    #[error(
        "no network namespaces here, and way '{way}' needs them: {cause}; allow user namespaces \
         (sysctl kernel.unprivileged_userns_clone=1) and install iproute2 and util-linux, or take ways loopback and unix"
    )]
    NoNamespaces { way: &'static str, cause: String },
}

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// For `map_err`: what was being done.
pub(crate) fn doing(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
    move |cause| Error::System { what: what.into(), cause }
}
