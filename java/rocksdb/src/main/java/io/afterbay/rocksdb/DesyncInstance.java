package io.afterbay.rocksdb;

import io.afterbay.maintenance.BurstGate;
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.AbstractEventListener;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;

/**
 * One instance of RocksDB, from before its options are complete until after it is closed. Usually
 * it is one database; several with the same options count as one. Safe for use by any thread.
 */
public final class DesyncInstance implements AutoCloseable {
    private final Coordinator coordinator;
    private final boolean spreadsTriggers;
    private final double phase;
    private final InstanceListener listener;
    private volatile int slowdownFiles = Integer.MAX_VALUE;
    private boolean isClosed;

    // Guarded by the coordinator's lock.
    final BurstGate.Member member = new BurstGate.Member();
    int flushes;
    int compactions;
    boolean isNearSlowdown;

    DesyncInstance(Coordinator coordinator, boolean spreadsTriggers, double phase) {
        this.coordinator = coordinator;
        this.spreadsTriggers = spreadsTriggers;
        this.phase = phase;
        this.listener = new InstanceListener(this, coordinator);
    }

    /**
     * Adds a listener to those that are there. The options must be closed before this instance, or
     * not be used to open a database after it.
     *
     * @return the argument
     */
    public DBOptions configure(DBOptions options) {
        List<AbstractEventListener> listeners = new ArrayList<>(options.listeners());
        if (!listeners.contains(listener)) {
            listeners.add(listener);
            options.setListeners(listeners);
        }
        return options;
    }

    /**
     * Raises the L0 trigger by what this instance's phase says. To be called once for each options,
     * after the user has set what he sets.
     *
     * @return the argument
     */
    public ColumnFamilyOptions configure(ColumnFamilyOptions options) {
        int trigger = options.level0FileNumCompactionTrigger();
        int slowdown =
                Math.min(options.level0SlowdownWritesTrigger(), options.level0StopWritesTrigger());
        slowdown = Math.max(slowdown, trigger); // as RocksDB corrects it
        slowdownFiles = Math.min(slowdownFiles, slowdown);
        return spreadsTriggers
                ? options.setLevel0FileNumCompactionTrigger(
                        CompactionTrigger.spread(trigger, slowdown, phase))
                : options;
    }

    Coordinator coordinator() {
        return coordinator;
    }

    /** The fewest files in L0, of all column families, at which writes are slowed down. */
    int slowdownFiles() {
        return slowdownFiles;
    }

    /**
     * Events arrived at the process in that time: λ of {@link io.afterbay.maintenance.BurstDelay}.
     */
    public void arrived(long events, long nanos) {
        coordinator.arrived(events, nanos);
    }

    /** Events were processed in that time while others always waited: C. */
    public void drained(long events, long nanos) {
        coordinator.drained(events, nanos);
    }

    /** Of all instances of the process. */
    public DesyncMetrics processMetrics() {
        return coordinator.metrics();
    }

    /**
     * To be called after the database is closed. With the last instance, the threads of the process
     * are as without any of this when the call returns. Idempotent.
     */
    @Override
    public void close() {
        synchronized (this) {
            if (isClosed) {
                return;
            }
            isClosed = true;
        }
        coordinator.closed(this);
        Desync.closed(coordinator);
        listener.close();
    }
}
