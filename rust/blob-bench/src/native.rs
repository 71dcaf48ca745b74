//! A client of the native protocol.

use afterbay_blob_client::{Client, ClientOptions, PutHead, Secret};
use afterbay_blob_router::PutOptions;
use futures_util::{StreamExt, stream};

use crate::acknowledged::Stored;
use crate::content::{Check, Object};
use crate::error::{Error, Result};

pub(crate) struct Native(Client);

impl Native {
    pub(crate) fn new(address: &str, key: &str, secret: &str) -> Self {
        let options = ClientOptions::new(address, key, Secret::new(secret));
        Native(Client::new(ClientOptions { connections_max: 1, ..options }))
    }

    pub(crate) async fn ping(&mut self) -> Result<()> {
        Ok(self.0.ping().await?)
    }

    pub(crate) async fn put(&mut self, index: u64, object: Object) -> Result<Stored> {
        let content_bytes = Some(object.length() as u64);
        let options = PutOptions { content_bytes, ..PutOptions::default() };
        let content = stream::iter([Ok(object.head), Ok(object.tail)]).boxed();
        let put = self.0.put(PutHead { options, name: None }, content).await?;
        Ok(Stored { index, id: Some(put.id) })
    }

    pub(crate) async fn get(&mut self, stored: Stored, check: &mut Check) -> Result<()> {
        let missing = || Error::Usage(format!("object {} has no id", stored.index));
        let mut got = self.0.get(stored.id.ok_or_else(missing)?, None).await?;
        while let Some(piece) = got.content.next().await? {
            check.take(&piece);
        }
        Ok(())
    }
}
