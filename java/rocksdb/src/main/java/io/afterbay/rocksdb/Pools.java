package io.afterbay.rocksdb;

import org.rocksdb.Env;
import org.rocksdb.Priority;

/** RocksDB's threads of a process. */
record Pools(BackgroundThreads compactions, BackgroundThreads flushes) {
    static Pools of(Env env) {
        return new Pools(
                BackgroundThreads.of(env, Priority.LOW), BackgroundThreads.of(env, Priority.HIGH));
    }
}
