package io.afterbay.flink;

import io.afterbay.maintenance.Spread;
import io.afterbay.rocksdb.Desync;
import io.afterbay.rocksdb.DesyncInstance;
import java.util.Collection;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.state.rocksdb.ConfigurableRocksDBOptionsFactory;
import org.apache.flink.state.rocksdb.RocksDBNativeMetricOptions;
import org.apache.flink.state.rocksdb.RocksDBOptionsFactory;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.Env;
import org.rocksdb.ReadOptions;
import org.rocksdb.WriteOptions;

/**
 * Keeps the flushes and compactions of Flink's own RocksDB backend apart, by {@code
 * state.backend.rocksdb.options-factory: io.afterbay.flink.DesyncRocksDBOptionsFactory} and the
 * options of {@link DesyncOptions}.
 *
 * <p>Flink's options and those of the user's own factory are applied first and stay, except that
 * the L0 trigger is raised by the instance's α.
 *
 * <p><b>One coordinator for a TaskManager</b> asks for the jar in {@code lib/}: RocksDB's threads
 * belong to the process, since Flink loads {@code org.rocksdb} from the parent. In a user's jar,
 * each job brings these classes again and has a coordinator of its own: spread triggers are as
 * good, but one job's gate opens the threads while another's has reason to hold them, a hold that
 * the guard of one job ends is taken up again by the other until its deadline, and settings of
 * {@code compaction-threads} that differ take turns.
 *
 * <p><b>Metrics.</b> An options factory is given options and no metric group, here and in {@code
 * createNativeMetricsOptions}. So the counters, which are of the process and not of an operator,
 * are a bean for JMX, {@code io.afterbay:type=RocksDBDesync} ({@link
 * io.afterbay.rocksdb.DesyncMetrics}).
 *
 * <p>Has no state of its own that would be lost: what belongs to an instance lies among the handles
 * that Flink closes with it.
 */
public final class DesyncRocksDBOptionsFactory implements ConfigurableRocksDBOptionsFactory {
    private static final long serialVersionUID = 1L;

    /** How Flink names the thread of a task: name, subtask from 1, parallelism, attempt. */
    private static final Pattern TASK = Pattern.compile("(.*) \\((\\d+)/\\d+\\)(#\\d+)?");

    private final @Nullable RocksDBOptionsFactory own;
    private final FlinkDesyncSettings settings;

    /** For Flink, which calls {@link #configure} next. */
    public DesyncRocksDBOptionsFactory() {
        this(null, FlinkDesyncSettings.defaults());
    }

    /**
     * For programs that set the options of the backend themselves.
     *
     * @param own the user's factory, which goes before one in the configuration
     */
    public DesyncRocksDBOptionsFactory(RocksDBOptionsFactory own) {
        this(own, FlinkDesyncSettings.defaults());
    }

    private DesyncRocksDBOptionsFactory(
            @Nullable RocksDBOptionsFactory own, FlinkDesyncSettings settings) {
        this.own = own;
        this.settings = settings;
    }

    /**
     * @throws IllegalConfigurationException naming the key, its value and what is allowed; for a
     *     class that is not there only when options are made
     */
    @Override
    public DesyncRocksDBOptionsFactory configure(ReadableConfig config) {
        FlinkDesyncSettings read = FlinkDesyncSettings.read(config);
        RocksDBOptionsFactory factory = own != null ? own : configured(config);
        if (factory instanceof ConfigurableRocksDBOptionsFactory configurable) {
            factory = configurable.configure(config);
        }
        return new DesyncRocksDBOptionsFactory(factory, read);
    }

    private static @Nullable RocksDBOptionsFactory configured(ReadableConfig config) {
        String name =
                OptionValues.get(config, DesyncOptions.OPTIONS_FACTORY, "the name of a class");
        if (name == null) {
            return null;
        }
        try {
            return load(name).getDeclaredConstructor().newInstance();
        } catch (ClassNotFoundException e) {
            return new MissingFactory(name);
        } catch (ReflectiveOperationException | ClassCastException e) {
            throw notAFactory(name, e);
        }
    }

    private static IllegalConfigurationException notAFactory(
            String name, @Nullable Exception cause) {
        return new IllegalConfigurationException(
                "%s: value '%s' is not allowed; allowed: a class that the job can load, that implements %s and has a public constructor without arguments"
                        .formatted(
                                DesyncOptions.OPTIONS_FACTORY.key(),
                                name,
                                RocksDBOptionsFactory.class.getName()),
                cause);
    }

    /**
     * Fails where options are made, which is in a task. The JobManager configures the backend as
     * well, in a thread that does not have the job's classes, and makes none.
     */
    private static final class MissingFactory implements RocksDBOptionsFactory {
        private static final long serialVersionUID = 1L;
        private final String name;

        MissingFactory(String name) {
            this.name = name;
        }

        @Override
        public DBOptions createDBOptions(DBOptions options, Collection<AutoCloseable> handles) {
            throw notAFactory(name, null);
        }

        @Override
        public ColumnFamilyOptions createColumnOptions(
                ColumnFamilyOptions options, Collection<AutoCloseable> handles) {
            throw notAFactory(name, null);
        }
    }

    /** From the job's classes: Flink tells an options factory of them by the task's thread only. */
    private static Class<? extends RocksDBOptionsFactory> load(String name)
            throws ClassNotFoundException {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        if (loader == null) {
            loader = DesyncRocksDBOptionsFactory.class.getClassLoader();
        }
        Class<?> type = Class.forName(name, true, loader);
        if (type == DesyncRocksDBOptionsFactory.class) {
            throw new ClassCastException("would be its own factory");
        }
        return type.asSubclass(RocksDBOptionsFactory.class);
    }

    @Override
    public DBOptions createDBOptions(DBOptions options, Collection<AutoCloseable> handles) {
        DBOptions users = own == null ? options : own.createDBOptions(options, handles);
        return instance(handles).configure(users);
    }

    @Override
    public ColumnFamilyOptions createColumnOptions(
            ColumnFamilyOptions options, Collection<AutoCloseable> handles) {
        ColumnFamilyOptions users =
                own == null ? options : own.createColumnOptions(options, handles);
        return instance(handles).configure(users);
    }

    /**
     * The one that goes with these handles: Flink has a collection of them for each backend, closes
     * it after the database, and hands it to every call. A copy is searched: a restore may make
     * options in other threads.
     */
    private DesyncInstance instance(Collection<AutoCloseable> handles) {
        for (Object handle : handles.toArray()) {
            if (handle instanceof DesyncInstance instance) {
                return instance;
            }
        }
        double phase = phase(Thread.currentThread().getName());
        DesyncInstance result = Desync.open(Env.getDefault(), phase, settings.settings());
        handles.add(result);
        return result;
    }

    /**
     * An options factory is not told of which operator and subtask the options are; the task's
     * thread creates the backend and is named after both, the same after a restart but for the
     * attempt.
     */
    static double phase(String threadName) {
        Matcher task = TASK.matcher(threadName);
        return task.matches()
                ? Spread.of(task.group(1), Integer.parseInt(task.group(2)) - 1)
                : Spread.ofName(threadName);
    }

    @Override
    public RocksDBNativeMetricOptions createNativeMetricsOptions(
            RocksDBNativeMetricOptions options) {
        return own == null ? options : own.createNativeMetricsOptions(options);
    }

    @Override
    public WriteOptions createWriteOptions(
            WriteOptions options, Collection<AutoCloseable> handles) {
        return own == null ? options : own.createWriteOptions(options, handles);
    }

    @Override
    public ReadOptions createReadOptions(ReadOptions options, Collection<AutoCloseable> handles) {
        return own == null ? options : own.createReadOptions(options, handles);
    }

    @Override
    public String toString() {
        return "DesyncRocksDBOptionsFactory{" + settings + ", own=" + own + '}';
    }
}
