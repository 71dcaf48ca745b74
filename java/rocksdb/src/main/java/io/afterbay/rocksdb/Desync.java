package io.afterbay.rocksdb;

import java.util.IdentityHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Env;

/**
 * Keeps flushes and compactions of the RocksDB instances of a process apart (ShadowSync, Middleware
 * '22). A binding opens a {@link DesyncInstance} before each database, lets it change the options,
 * and closes it after the database.
 *
 * <p>There is one coordinator for each {@link Env}, from its first open instance to its last. Where
 * classes are loaded per job, this class must come from a loader that all jobs share, or else each
 * job has a coordinator of its own: they agree on the pool's threads in the end, but one opens the
 * pool while another one has reason to hold it.
 */
public final class Desync {
    private static final Map<Env, Running> RUNNING = new IdentityHashMap<>();

    /** A coordinator, and how it is seen from outside. */
    private static final class Running {
        final Coordinator coordinator;
        final @Nullable RecordMBean bean;
        int instances;

        Running(Coordinator coordinator) {
            this.coordinator = coordinator;
            this.bean = RecordMBean.register(DesyncMetrics.class, coordinator::metrics);
        }
    }

    private Desync() {}

    /**
     * Adds an instance.
     *
     * @param env of its options; the default one of all engines is {@link Env#getDefault}
     * @param phase in [0, 1), see {@link io.afterbay.maintenance.Spread}; best the same after a
     *     restart
     * @param settings gate and threads are those of the first instance that is open, for all
     */
    public static DesyncInstance open(Env env, double phase, DesyncSettings settings) {
        return open(env, phase, settings, Pools.of(env));
    }

    static synchronized DesyncInstance open(
            Env env, double phase, DesyncSettings settings, Pools pools) {
        Running running =
                RUNNING.computeIfAbsent(
                        env, name -> new Running(Coordinator.start(settings, pools)));
        DesyncInstance result =
                new DesyncInstance(running.coordinator, settings.spreadsTriggers(), phase);
        running.instances++;
        running.coordinator.opened();
        return result;
    }

    /** What the instances did, or null if none is open. */
    public static synchronized @Nullable DesyncMetrics metrics(Env env) {
        Running running = RUNNING.get(env);
        return running == null ? null : running.coordinator.metrics();
    }

    static synchronized void closed(Coordinator coordinator) {
        RUNNING.values().removeIf(running -> running.coordinator == coordinator && isLast(running));
    }

    private static boolean isLast(Running running) {
        running.instances--;
        if (running.instances > 0) {
            return false;
        }
        running.coordinator.close();
        if (running.bean != null) {
            running.bean.unregister();
        }
        return true;
    }
}
