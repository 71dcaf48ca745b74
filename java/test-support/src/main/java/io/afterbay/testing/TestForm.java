package io.afterbay.testing;

/**
 * The two forms of the tests, and how much each does of what can be done any number of times: the
 * one place for such numbers. {@code ./afterbay test} runs the normal form, and with {@code --long}
 * the long one.
 */
public final class TestForm {
    /** The system property that is true in the long form. */
    public static final String PROPERTY = "afterbay.long";

    /** Whether this is the long form. */
    public static final boolean IS_LONG = Boolean.getBoolean(PROPERTY);

    // ---------------------------------------------------------------- state-store

    /** Random runs of parts of the store, each with a seed of its own, from 1 on. */
    public static final int STORE_SEEDS = either(2, 8);

    /** Images of pages that are made while pages change, in a run. */
    public static final int STORE_IMAGES = either(8, 40);

    // ---------------------------------------------------------------- state-store-testkit

    /** Memory of three stores at most in their contract; some tests hold four times as much. */
    public static final int CONTRACT_STORE_BYTES = either(3 << 20, 8 << 20);

    /**
     * Of random properties in the normal form, which finds faults of changes, and no new cases.
     * With this one, runs cost what they do on average; some cost twenty times as much.
     */
    public static final String SEED = "3";

    /** Runs of a store beside its model. */
    public static final int MODEL_TRIES = 8;

    /** And of one whose content is copied now and then. */
    public static final int COPIES_MODEL_TRIES = 4;

    /** Steps of a run at most; those of long ones cost by far the most, and spill the most. */
    public static final int MODEL_STEPS = either(150, 250);

    /** Runs of the store beside its model with new seeds, in the long form. */
    public static final int MODEL_TRIES_LONG = 1_000;

    /** Runs in which the model must find each fault of a store: it needs a few of them. */
    public static final int CONTROL_TRIES = 150;

    /** Runs of a store amid which a file fails. */
    public static final int FAULT_TRIES = 30;

    /** And with new seeds, in the long form. */
    public static final int FAULT_TRIES_LONG = 1_000;

    /** Runs of a store whose files are slow, or transfer little at once. */
    public static final int SLOW_FILE_TRIES = 4;

    /** And with new seeds, in the long form. */
    public static final int SLOW_FILE_TRIES_LONG = 200;

    /** Memory of a store that holds twenty times as much. */
    public static final int OVERFULL_STORE_BYTES = either(1 << 20, 8 << 20);

    /** Keys of one window, several times the memory; its log is gathered up to some 800,000. */
    public static final int WINDOW_KEYS = either(60_000, 700_000);

    /** Calls of each of two threads at one backend. */
    public static final int TWO_THREADS_CALLS = either(20_000, 200_000);

    /** Random sequences of them, each with a seed of its own, from 1 on. */
    public static final int TWO_THREADS_SEEDS = either(1, 3);

    // ---------------------------------------------------------------- stragglers

    /** Simulations of each policy, each with a seed of its own, from 1 on. */
    public static final int STRAGGLER_SEEDS = either(2, 20);

    /** Tuples that go through a simulated queue; the more, the less it may differ from theory. */
    public static final int QUEUE_TUPLES = either(400_000, 10_000_000);

    /** Runs of a budget or a queue beside its model. */
    public static final int STRAGGLER_MODEL_TRIES = 200;

    /** And with new seeds, in the long form. */
    public static final int STRAGGLER_MODEL_TRIES_LONG = 10_000;

    /** Interleavings of a live job and a replay beside it, each with three resolvers. */
    public static final int REPLAY_MODEL_TRIES = 10_000;

    /** And with new seeds, in the long form. */
    public static final int REPLAY_MODEL_TRIES_LONG = 1_000_000;

    /** Runs of a queue with several threads. */
    public static final int QUEUE_THREADS_TRIES = 20;

    /** And with new seeds, in the long form. */
    public static final int QUEUE_THREADS_TRIES_LONG = 1_000;

    // ---------------------------------------------------------------- flink

    /** Random inputs of each kind of window, each with a seed of its own, from 1 on. */
    public static final int WINDOW_SEEDS = either(1, 4);

    /** Random chains of checkpoints, each with a seed of its own, from 1 on. */
    public static final int CHAIN_SEEDS = either(2, 6);

    /** And with bases that are written in the background. */
    public static final int BACKGROUND_CHAIN_SEEDS = either(1, 3);

    /** Checkpoints of a random chain. */
    public static final int CHAIN_CHECKPOINTS = either(30, 60);

    /** Random chains whose restores are slow. */
    public static final int LAZY_CHAIN_SEEDS = either(1, 3);

    // ---------------------------------------------------------------- flink-it

    /** TaskManagers that are killed under a job, one after the other; in the long form only. */
    public static final int TASK_MANAGER_KILLS = 10;

    /** And of those that find the state of their tasks on their disk. */
    public static final int LOCAL_RECOVERY_KILLS = either(1, 4);

    /** In which processes are killed at random; in the long form only. */
    public static final int SOAK_MINUTES = 15;

    /** Postings of each partition of the ledger, of which a source emits a thousand a second. */
    public static final int LEDGER_POSTINGS = either(4_000, 60_000);

    // ---------------------------------------------------------------- spark

    /** Drivers and executors that are killed: of each four kills, both in both modes. */
    public static final int SPARK_KILLS = either(2, 50);

    /** Of the same on Kafka, in the long form only. */
    public static final int SPARK_KAFKA_KILLS = 50;

    /** Worlds of the largest model of the commit protocol that is explored. */
    public static final int MODEL_WORLDS_MAX = either(9_000, Integer.MAX_VALUE);

    /** Points at which publishing ends, each three writes behind the one before. */
    public static final int SPARK_CRASHES = either(3, 9);

    /** Batches of a query on a storage with random faults, each time with a seed of its own. */
    public static final int PUBLISHER_SEEDS = either(20, 100);

    /** The longest that vanilla Spark may go on for, with all that was fed, in seconds. */
    public static final int SPARK_VANILLA_SECONDS_MAX = either(540, 3_600);

    // ---------------------------------------------------------------- storm-it

    /** Of workers, Supervisor and Nimbus each, with each technique; in the long form only. */
    public static final int STORM_KILLS = 20;

    // ---------------------------------------------------------------- workloads

    /** Reports of the city's cars that go through the job on each backend. */
    public static final int BACKEND_REPORTS = either(100_000, 770_513);

    // ---------------------------------------------------------------- kafka-workloads

    /** Words that an application counts until its flushes are looked at. */
    public static final int STREAMS_WORDS = either(40_000, 60_000);

    /** Processes that are killed under an application that counts exactly once. */
    public static final int STREAMS_KILLS = either(1, 3);

    // ---------------------------------------------------------------- cli

    /** Of the scripts in each folder, so many run. */
    public static final int SCRIPTS_OF_A_FOLDER = either(1, Integer.MAX_VALUE);

    // ---------------------------------------------------------------- blob-it

    /** Times that the blob store is killed under a job. */
    public static final int BLOB_STORE_KILLS = either(1, 5);

    /** Reports of the city's cars in the job under which the store is killed. */
    public static final int BLOB_REPORTS = either(100_000, 770_513);

    /** State of each of 2,664 cars, which checkpoints keep in files of their own. */
    public static final int BLOB_CAR_BYTES = either(512, 4_096);

    // ---------------------------------------------------------------- edge-it

    /** Random queries as whole jobs and in halves, in one job of Flink's each. */
    public static final int EDGE_QUERIES = 20;

    /** And so many times with new ones, in the long form. */
    public static final int EDGE_QUERIES_TRIES_LONG = 25;

    /** Random expressions of one SELECT. */
    public static final int EDGE_EXPRESSIONS = 500;

    /** And so many times with new ones, in the long form. */
    public static final int EDGE_EXPRESSIONS_TRIES_LONG = 40;

    /** Reports of the city's cars in its eight districts. */
    public static final int EDGE_REPORTS = either(60_000, 770_513);

    private TestForm() {}

    private static int either(int normal, int inLongForm) {
        return IS_LONG ? inLongForm : normal;
    }
}
