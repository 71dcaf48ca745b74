package io.afterbay.rocksdb;

import io.afterbay.maintenance.BurstGate;
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.AbstractEventListener;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.ColumnFamilyOptionsInterface;
import org.rocksdb.DBOptions;
import org.rocksdb.DBOptionsInterface;
import org.rocksdb.Options;

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
    boolean isGone;
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
     * Adds a listener to those that are there. No database may be opened with the options after
     * this instance is closed.
     *
     * @return the argument
     */
    public DBOptions configure(DBOptions options) {
        listen(options);
        return options;
    }

    /**
     * Raises the L0 trigger by what this instance's phase says. To be called once for each options,
     * after the user has set what he sets.
     *
     * @return the argument
     */
    public ColumnFamilyOptions configure(ColumnFamilyOptions options) {
        spread(options);
        return options;
    }

    /**
     * Both of the above, for engines that have one object for the options of the database and of
     * its column families.
     *
     * @return the argument
     */
    public Options configure(Options options) {
        listen(options);
        spread(options);
        return options;
    }

    private void listen(DBOptionsInterface<?> options) {
        List<AbstractEventListener> listeners = new ArrayList<>(options.listeners());
        if (!listeners.contains(listener)) {
            listeners.add(listener);
            options.setListeners(listeners);
        }
    }

    private void spread(ColumnFamilyOptionsInterface<?> options) {
        int trigger = options.levelZeroFileNumCompactionTrigger();
        int slowdown =
                Math.min(
                        options.levelZeroSlowdownWritesTrigger(),
                        options.levelZeroStopWritesTrigger());
        slowdown = Math.max(slowdown, trigger); // as RocksDB corrects it
        slowdownFiles = Math.min(slowdownFiles, slowdown);
        if (spreadsTriggers) {
            options.setLevelZeroFileNumCompactionTrigger(
                    CompactionTrigger.spread(trigger, slowdown, phase));
        }
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
     * To be called after the database is closed, or right before where the engine has no later
     * place; then what the database does as it closes is not counted. With the last instance, the
     * threads of the process are as without any of this when the call returns. Idempotent.
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
