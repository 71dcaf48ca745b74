package io.afterbay.rocksdb;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.rocksdb.AbstractEventListener;
import org.rocksdb.CompactionJobInfo;
import org.rocksdb.FlushJobInfo;
import org.rocksdb.FlushReason;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteStallCondition;
import org.rocksdb.WriteStallInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the coordinator what an instance does, in RocksDB's own threads, which hold no lock of the
 * database then. Throws nothing: RocksDB would go on with an exception pending.
 */
final class InstanceListener extends AbstractEventListener {
    private static final Logger LOG = LoggerFactory.getLogger(InstanceListener.class);

    private final DesyncInstance instance;
    private final Coordinator coordinator;
    private final boolean watchesL0;

    // Guarded by this listener's monitor.
    private final Map<String, L0Files> filesByDatabase = new HashMap<>();

    /** Column families with too many files in L0, or whose writes are slowed down. */
    private final Set<String> nearSlowdown = new HashSet<>();

    InstanceListener(DesyncInstance instance, Coordinator coordinator) {
        super(
                EnabledEventCallback.ON_FLUSH_BEGIN,
                EnabledEventCallback.ON_FLUSH_COMPLETED,
                EnabledEventCallback.ON_COMPACTION_BEGIN,
                EnabledEventCallback.ON_COMPACTION_COMPLETED,
                EnabledEventCallback.ON_STALL_CONDITIONS_CHANGED);
        this.instance = instance;
        this.coordinator = coordinator;
        this.watchesL0 = coordinator.settings().limitsCompactions();
    }

    @Override
    public void onFlushBegin(RocksDB db, FlushJobInfo info) {
        guarded(() -> coordinator.flushBegan(instance, isOfBurst(info.getFlushReason())));
    }

    /**
     * A checkpoint asks for the live files; a program that flushes at commit, as Kafka Streams up
     * to 4.2, does so by hand. All instances do that at the same time. A memtable that is full is
     * one instance's affair.
     */
    private static boolean isOfBurst(FlushReason reason) {
        return reason == FlushReason.GET_LIVE_FILES || reason == FlushReason.MANUAL_FLUSH;
    }

    @Override
    public void onFlushCompleted(RocksDB db, FlushJobInfo info) {
        inOrder(() -> coordinator.flushEnded(instance, watchesL0 && flushed(db, info)));
    }

    private boolean flushed(RocksDB db, FlushJobInfo info) {
        int limit = CompactionTrigger.guardFiles(instance.slowdownFiles());
        String family = info.getColumnFamilyName();
        boolean isNear = files(db).flushed(family, info.getFilePath(), limit, () -> filesInL0(db));
        return setNear("files of " + family, isNear);
    }

    @Override
    public void onCompactionBegin(RocksDB db, CompactionJobInfo info) {
        guarded(() -> coordinator.compactionBegan(instance));
    }

    @Override
    public void onCompactionCompleted(RocksDB db, CompactionJobInfo info) {
        inOrder(() -> coordinator.compactionEnded(instance, watchesL0 && compacted(db, info)));
    }

    private boolean compacted(RocksDB db, CompactionJobInfo info) {
        String family = text(info.columnFamilyName());
        L0Files files = files(db);
        files.compacted(
                family,
                info.inputFiles(),
                info.outputLevel() == 0 ? info.outputFiles() : List.of());
        int limit = CompactionTrigger.guardFiles(instance.slowdownFiles());
        return setNear("files of " + family, files.count(family) >= limit);
    }

    @Override
    public void onStallConditionsChanged(WriteStallInfo info) {
        inOrder(() -> coordinator.nearSlowdown(instance, stalled(info)));
    }

    private boolean stalled(WriteStallInfo info) {
        boolean isSlow = info.getCurrentCondition() != WriteStallCondition.NORMAL;
        return setNear("writes of " + info.getColumnFamilyName(), isSlow);
    }

    private boolean setNear(String what, boolean isNear) {
        if (isNear) {
            nearSlowdown.add(what);
        } else {
            nearSlowdown.remove(what);
        }
        return !nearSlowdown.isEmpty();
    }

    private L0Files files(RocksDB db) {
        return filesByDatabase.computeIfAbsent(db.getName(), name -> new L0Files());
    }

    private static List<L0Files.File> filesInL0(RocksDB db) {
        return db.getLiveFilesMetaData().stream()
                .filter(file -> file.level() == 0)
                .map(file -> new L0Files.File(text(file.columnFamilyName()), file.fileName()))
                .toList();
    }

    private static String text(byte[] name) {
        return new String(name, StandardCharsets.UTF_8);
    }

    /**
     * With what is guarded here: the coordinator must hear last what was found last. Its own lock
     * comes second, always.
     */
    private void inOrder(Runnable callback) {
        guarded(
                () -> {
                    synchronized (this) {
                        callback.run();
                    }
                });
    }

    private static void guarded(Runnable callback) {
        try {
            callback.run();
        } catch (Throwable e) {
            LOG.error("An event of RocksDB was lost", e);
        }
    }
}
