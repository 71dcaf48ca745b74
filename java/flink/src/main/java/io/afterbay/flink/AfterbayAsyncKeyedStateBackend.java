package io.afterbay.flink;

import java.io.IOException;
import org.apache.flink.runtime.state.v2.adaptor.AsyncKeyedStateBackendAdaptor;

/**
 * Serves the asynchronous state API, synchronously. Flink would put its own adaptor around the
 * backend, but that one (of 2.3.0) never disposes of what it wraps: memory and local files would be
 * kept until the TaskManager ends.
 */
final class AfterbayAsyncKeyedStateBackend<K> extends AsyncKeyedStateBackendAdaptor<K> {
    private final AfterbayKeyedStateBackend<K> backend;

    AfterbayAsyncKeyedStateBackend(AfterbayKeyedStateBackend<K> backend) {
        super(backend);
        this.backend = backend;
    }

    @Override
    public void dispose() {
        backend.dispose();
    }

    @Override
    public void close() throws IOException {
        backend.close();
    }
}
