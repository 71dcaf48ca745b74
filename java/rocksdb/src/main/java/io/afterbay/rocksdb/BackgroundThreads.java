package io.afterbay.rocksdb;

import org.rocksdb.Env;
import org.rocksdb.Priority;

/** A pool of threads of RocksDB, of one {@link Env}. */
interface BackgroundThreads {
    int count();

    /** What runs ends first; returns before that. */
    void setCount(int threads);

    /** Flushes or compactions that wait for a thread. */
    int queued();

    /** The threads that compact are of low priority, those that flush of high priority. */
    static BackgroundThreads of(Env env, Priority priority) {
        return new BackgroundThreads() {
            @Override
            public int count() {
                return env.getBackgroundThreads(priority);
            }

            @Override
            public void setCount(int threads) {
                env.setBackgroundThreads(threads, priority);
            }

            @Override
            public int queued() {
                return env.getThreadPoolQueueLen(priority);
            }
        };
    }
}
