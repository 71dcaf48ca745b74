package io.afterbay.rocksdb;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.rocksdb.Checkpoint;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteOptions;

/** A real database as Flink opens them: no log, flushed by checkpoints. */
final class Database implements AutoCloseable {
    private final Path folder;
    private final DBOptions options = new DBOptions().setCreateIfMissing(true);
    private final ColumnFamilyOptions family =
            new ColumnFamilyOptions().setCompressionType(CompressionType.NO_COMPRESSION);
    private final List<ColumnFamilyHandle> handles = new ArrayList<>();
    private final WriteOptions noLog = new WriteOptions().setDisableWAL(true);
    private final RocksDB db;
    private int checkpoints;

    /** One that does not know of {@link Desync}. */
    Database(Path folder, Consumer<DBOptions> db, Consumer<ColumnFamilyOptions> families)
            throws RocksDBException {
        this.folder = folder;
        db.accept(options);
        families.accept(family);
        this.db =
                RocksDB.open(
                        options,
                        folder.toString(),
                        List.of(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, family)),
                        handles);
    }

    Database(Path folder, DesyncInstance instance, Consumer<ColumnFamilyOptions> families)
            throws RocksDBException {
        this(
                folder,
                instance::configure,
                options -> {
                    families.accept(options);
                    instance.configure(options);
                });
    }

    Database(Path folder, DesyncInstance instance) throws RocksDBException {
        this(folder, instance, options -> {});
    }

    int trigger() {
        return family.level0FileNumCompactionTrigger();
    }

    /** Writes over what is there, and makes a checkpoint: one more file in L0. */
    Void checkpoint() throws RocksDBException {
        for (int key = 0; key < 100; key++) {
            byte[] bytes = ("key " + key).getBytes(StandardCharsets.UTF_8);
            db.put(noLog, bytes, new byte[100]);
        }
        try (Checkpoint checkpoint = Checkpoint.create(db)) {
            checkpoint.createCheckpoint(folder + "-checkpoint-" + checkpoints++);
        }
        return null;
    }

    boolean isCompacting() throws RocksDBException {
        return number("rocksdb.compaction-pending") + number("rocksdb.num-running-compactions") > 0;
    }

    long filesInL0() throws RocksDBException {
        return number("rocksdb.num-files-at-level0");
    }

    private long number(String property) throws RocksDBException {
        return Long.parseLong(db.getProperty(property));
    }

    @Override
    public void close() {
        handles.forEach(ColumnFamilyHandle::close);
        db.close();
        family.close();
        options.close();
        noLog.close();
    }
}
