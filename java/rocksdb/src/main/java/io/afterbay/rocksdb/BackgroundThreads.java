package io.afterbay.rocksdb;

import org.rocksdb.Env;
import org.rocksdb.Priority;

/** RocksDB's pool of threads that compact, of one {@link Env}. */
interface BackgroundThreads {
    int count();

    /** Running compactions end first; returns before that. */
    void setCount(int threads);

    /** Compactions that wait for a thread. */
    int queued();

    static BackgroundThreads of(Env env) {
        return new BackgroundThreads() {
            @Override
            public int count() {
                return env.getBackgroundThreads(Priority.LOW);
            }

            @Override
            public void setCount(int threads) {
                env.setBackgroundThreads(threads, Priority.LOW);
            }

            @Override
            public int queued() {
                return env.getThreadPoolQueueLen(Priority.LOW);
            }
        };
    }
}
