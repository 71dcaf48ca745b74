package io.afterbay.store.testkit;

import static io.afterbay.store.testkit.StoreFixture.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.afterbay.store.ListStore;
import io.afterbay.store.MemoryBudget;
import io.afterbay.store.ReadAlignment;
import io.afterbay.store.StateStore;
import io.afterbay.store.StateStoreException;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.store.testkit.FaultyLocalFiles.Fault;
import io.afterbay.store.testkit.FaultyLocalFiles.Operation;
import io.afterbay.testing.Await;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tuple;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.AfterTry;
import net.jqwik.api.lifecycle.BeforeTry;
import net.jqwik.api.lifecycle.PropagationMode;
import net.jqwik.api.statistics.Statistics;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;

/**
 * What a store does when local files fail, while a random workload spills: it never returns
 * anything wrong, says which file failed and where, refuses all further work, and can be closed
 * without leaving files or memory. A test of a store that uses files extends this class.
 */
public abstract class StateStoreFaultContract {
    protected abstract StateStore open(StoreOptions options);

    /** The least memory that a store works with. */
    protected abstract long smallestBudgetBytes();

    /** Memory that all stores of this process hold now, apart from budgets. */
    protected abstract long allocatedBytes();

    private @Nullable TestDirectory directory;
    private @Nullable ExecutorService background;
    private @Nullable FaultyLocalFiles files;
    private @Nullable MemoryBudget budget;
    private long allocatedBefore;

    /** A fault and where it strikes. */
    @SuppressWarnings("ImmutableEnumChecker") // faults are records of constants
    enum Kind {
        WRITE_ERROR(Operation.WRITE, Fault.inputOutputError()),
        DISK_FULL(Operation.WRITE, Fault.diskFull()),
        CREATE_ERROR(Operation.CREATE, Fault.fail("Too many open files")),
        READ_ERROR(Operation.READ, Fault.inputOutputError()),
        DELETE_ERROR(Operation.DELETE, Fault.inputOutputError()),
        FLIPPED_WRITE(Operation.WRITE, new Fault.FlipBit(0)),
        FLIPPED_READ(Operation.READ, new Fault.FlipBit(0)),
        LOST_WRITE(Operation.WRITE, new Fault.LoseWrite()),
        TRUNCATED_FILE(Operation.READ, new Fault.EndOfFile()),
        MISSING_FILE(Operation.READ, Fault.fail("No such file or directory"));

        final Operation operation;
        final Fault fault;

        Kind(Operation operation, Fault fault) {
            this.operation = operation;
            this.fault = fault;
        }

        /** Whether the store is told at once, rather than when it reads. */
        boolean isLoud() {
            return fault instanceof Fault.Fail || fault instanceof Fault.EndOfFile;
        }

        FaultyLocalFiles plan(FaultyLocalFiles files, int nth, int bit) {
            if (this == DISK_FULL) {
                return files.from(operation, nth, fault);
            }
            return files.on(
                    operation,
                    nth,
                    fault instanceof Fault.FlipBit ? new Fault.FlipBit(bit) : fault);
        }
    }

    @BeforeTry
    void setUp() throws IOException {
        directory = TestDirectory.create("afterbay-fault");
        background = Executors.newFixedThreadPool(2);
        files = new FaultyLocalFiles(LocalFiles.system());
        budget = new MemoryBudget(smallestBudgetBytes());
        allocatedBefore = allocatedBytes();
    }

    @AfterTry
    void tearDown() throws Exception {
        try (TestDirectory ended = testDirectory()) {
            background().shutdown();
            Await.until("the background to end", background()::isTerminated);
            assertThat(budget().usedBytes()).as("memory in use after close").isZero();
            assertThat(budget().shares()).as("stores that share the budget after close").isZero();
            assertThat(budget().peakBytes()).isLessThanOrEqualTo(budget().totalBytes());
            assertThat(allocatedBytes())
                    .as("memory allocated after close")
                    .isEqualTo(allocatedBefore);
            assertThat(files().openFiles()).as("files open after close").isZero();
            ended.deleteEmpty();
        }
    }

    @Property(
            tries = TestForm.FAULT_TRIES,
            seed = TestForm.SEED,
            edgeCases = EdgeCasesMode.NONE,
            shrinking = ShrinkingMode.BOUNDED)
    void faultIsReportedAndNothingWrongIsEverRead(
            @ForAll Kind kind,
            @ForAll("positions") int nth,
            @ForAll("bits") int bit,
            @ForAll("steps") List<Step> steps)
            throws Exception {
        checkFault(kind, nth, bit, steps);
    }

    @Property(
            tries = TestForm.FAULT_TRIES_LONG,
            edgeCases = EdgeCasesMode.NONE,
            shrinking = ShrinkingMode.BOUNDED)
    @AddLifecycleHook(value = OnlyInLongRuns.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
    void faultIsReportedInManyTries(
            @ForAll Kind kind,
            @ForAll("positions") int nth,
            @ForAll("bits") int bit,
            @ForAll("steps") List<Step> steps)
            throws Exception {
        checkFault(kind, nth, bit, steps);
    }

    private void checkFault(Kind kind, int nth, int bit, List<Step> steps) throws Exception {
        kind.plan(files(), nth, bit);
        ModelRun run = newRun();
        try {
            StateStoreException error = errorOf(run, steps);
            boolean struck = !files().struck().isEmpty();
            Statistics.label("faults that struck").collect(struck);
            if (error == null && struck && kind.isLoud()) {
                error = awaitRefusal(run.store());
            }
            if (error != null) {
                assertThat(struck).as("a fault caused: %s", error).isTrue();
                checkMessage(error, kind.operation);
                checkRefusal(run.store());
            }
        } finally {
            run.abandon();
        }
        Statistics.label("faults that struck")
                .coverage(coverage -> coverage.check(true).percentage(share -> share > 25));
    }

    /** Nothing is wrong with a file system that transfers less than asked, or that is slow. */
    @Property(
            tries = TestForm.SLOW_FILE_TRIES,
            seed = TestForm.SEED,
            edgeCases = EdgeCasesMode.NONE,
            shrinking = ShrinkingMode.BOUNDED)
    void shortAndSlowTransfersAreNoFault(
            @ForAll("transferSizes") int bytes,
            @ForAll boolean slow,
            @ForAll("steps") List<Step> steps) {
        checkTransfers(bytes, slow, steps);
    }

    @Property(
            tries = TestForm.SLOW_FILE_TRIES_LONG,
            edgeCases = EdgeCasesMode.NONE,
            shrinking = ShrinkingMode.BOUNDED)
    @AddLifecycleHook(value = OnlyInLongRuns.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
    void shortAndSlowTransfersAreNoFaultInManyTries(
            @ForAll("transferSizes") int bytes,
            @ForAll boolean slow,
            @ForAll("steps") List<Step> steps) {
        checkTransfers(bytes, slow, steps);
    }

    private void checkTransfers(int bytes, boolean slow, List<Step> steps) {
        Fault fault = slow ? new Fault.Wait(Duration.ofMillis(1)) : new Fault.TransferAtMost(bytes);
        int last = slow ? 200 : 2_000_000 / bytes; // or the test were slow, too
        files().between(Operation.WRITE, 1, last, fault).between(Operation.READ, 1, last, fault);
        try (ModelRun run = newRun()) {
            run.apply(steps);
        }
    }

    @Example
    void directoryThatCannotBeMadeIsNamed() {
        files().on(Operation.CREATE_DIRECTORIES, 1, Fault.fail("Read-only file system"));
        assertThatThrownBy(this::newRun)
                .isInstanceOf(StateStoreException.class)
                .hasMessageContaining(directory().toString())
                .hasMessageContaining("Read-only file system");
    }

    @Example
    void budgetBelowTheLeastIsRefused() {
        MemoryBudget tooSmall = new MemoryBudget(1000);
        StoreOptions options =
                TestOptions.of(
                        directory().resolve("store"), files(), tooSmall, background(), 0, 15);
        assertThatThrownBy(() -> open(options))
                .isInstanceOf(StateStoreException.class)
                .hasMessageContaining("store")
                .hasMessageContaining("1000");
        assertThat(tooSmall.usedBytes()).isZero();
        assertThat(tooSmall.shares()).isZero();
    }

    /** A task that is cancelled closes its store with whatever state the disk is in. */
    @Example
    void closeWorksWhenNothingCanBeDeleted() throws IOException {
        files().from(Operation.DELETE, 1, Fault.inputOutputError())
                .from(Operation.DELETE_DIRECTORY, 1, Fault.inputOutputError());
        ModelRun run = newRun();
        errorOf(run, overwriting());
        assertThatCode(run::abandon).doesNotThrowAnyException();
        assertThat(budget().usedBytes()).isZero();
        files().heal();
        deleteTree(directory().resolve("store-0"));
    }

    /** Whether the file is in use at the end, or waits for the background to delete it. */
    @Example
    void closeTriesAgainWhatCouldNotBeDeleted() throws IOException {
        CountDownLatch closed = new CountDownLatch(1);
        occupy(background(), closed);
        try {
            int files = filesDeletedByClose(Integer.MAX_VALUE);
            assertThat(files).isGreaterThan(2);
            for (int nth = 1; nth <= files; nth++) {
                filesDeletedByClose(nth);
            }
        } finally {
            closed.countDown();
        }
    }

    private static void occupy(ExecutorService executor, CountDownLatch end) {
        for (int i = 0; i < 2; i++) {
            executor.execute(
                    () -> {
                        try {
                            end.await();
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        }
                    });
        }
    }

    /** The n-th deletion fails. */
    private int filesDeletedByClose(int nth) throws IOException {
        ModelRun run = newRun();
        run.apply(overwriting());
        run.apply(appendingAndClearing());
        long before = files().count(Operation.DELETE);
        files().on(Operation.DELETE, before + nth, Fault.inputOutputError());
        run.close();
        files().heal();
        assertThat(directory()).isEmptyDirectory();
        return (int) (files().count(Operation.DELETE) - before);
    }

    private static List<Step> overwriting() {
        return IntStream.range(0, 40)
                .mapToObj(i -> new Step(Step.Kind.BULK_PUT, i * 1000, 300, i))
                .toList();
    }

    private static List<Step> appendingAndClearing() {
        return IntStream.range(0, 40)
                .mapToObj(i -> i % 20 == 19 ? Step.Kind.BULK_CLEAR_LISTS : Step.Kind.BULK_APPEND)
                .map(kind -> new Step(kind, 0, 300, 300))
                .toList();
    }

    private static void deleteTree(Path tree) throws IOException {
        for (Path file : LocalFiles.system().list(tree)) {
            Files.delete(file);
        }
        Files.delete(tree);
    }

    private ModelRun newRun() {
        Keyspace keys = new Keyspace(3000, false, 0, 15);
        return new ModelRun(this::open, directory(), files(), budget(), background(), keys);
    }

    /** What the store threw, or null. Anything else that is thrown fails the try. */
    private static @Nullable StateStoreException errorOf(ModelRun run, List<Step> steps) {
        try {
            run.apply(steps);
            return null;
        } catch (StateStoreException e) {
            return e;
        } catch (CompletionException e) { // thrown to the reader of a snapshot
            if (e.getCause() instanceof StateStoreException cause) {
                return cause;
            }
            throw e;
        }
    }

    private void checkMessage(StateStoreException error, Operation operation) {
        assertThat(files().struck().stream().map(Path::toString))
                .as("a file that is named by: %s", error.getMessage())
                .anyMatch(path -> String.valueOf(error.getMessage()).contains(path));
        if (operation == Operation.READ || operation == Operation.WRITE) {
            assertThat(error.getMessage()).containsPattern("byte \\d+");
        }
        assertThat(error.getMessage()).as("the way out").contains("restore");
    }

    /** The background may be at it; the owner has to hear of it. */
    private static StateStoreException awaitRefusal(StateStore store) throws Exception {
        AtomicReference<@Nullable StateStoreException> refusal = new AtomicReference<>();
        Await.until(
                "the refusal of a store of which a file has failed",
                () -> {
                    try {
                        StoreFixture.get(store.values(ModelValues.NAME), key(0, "any"));
                    } catch (StateStoreException e) {
                        refusal.set(e);
                    }
                    return refusal.get() != null;
                });
        return Objects.requireNonNull(refusal.get());
    }

    private static void checkRefusal(StateStore store) {
        assertThat(store.hasFailed()).isTrue();
        List<ThrowingCallable> uses =
                List.of(
                        () -> StoreFixture.get(store.values(ModelValues.NAME), key(0, "k")),
                        () -> StoreFixture.put(store.values(ModelValues.NAME), key(0, "k"), "v"),
                        () -> StoreFixture.append(unaligned(store), key(0, "k"), "e"),
                        () -> StoreFixture.get(unaligned(store), key(0, "k")),
                        () -> StoreFixture.put(store.maps(ModelMaps.NAME), key(0, "k"), "u", "v"),
                        () -> store.triggers(ModelTriggers.NAME).add(1, key(0, "k")),
                        () -> StoreFixture.poll(store.triggers(ModelTriggers.NAME)),
                        () -> Contents.values(store.values(ModelValues.NAME).scan(0, 15)),
                        store::snapshot);
        for (int i = 0; i < uses.size(); i++) {
            assertThatThrownBy(uses.get(i), "use %d of a store whose file has failed", i)
                    .isInstanceOf(StateStoreException.class);
        }
    }

    private static ListStore unaligned(StateStore store) {
        return store.lists(ModelLists.name(ReadAlignment.UNALIGNED), ReadAlignment.UNALIGNED);
    }

    @Provide
    Arbitrary<Integer> positions() {
        return Arbitraries.frequencyOf(
                Tuple.of(6, Arbitraries.integers().between(1, 3)),
                Tuple.of(3, Arbitraries.integers().between(4, 20)),
                Tuple.of(1, Arbitraries.integers().between(21, 300)));
    }

    @Provide
    Arbitrary<Integer> bits() {
        return Arbitraries.integers().between(0, 8 << 15);
    }

    @Provide
    Arbitrary<Integer> transferSizes() {
        return Arbitraries.of(9, 100, 511, 513, 5000);
    }

    /**
     * A store that was restored into is a new one, so the failed one would be gone: no reopening.
     */
    @Provide
    Arbitrary<List<Step>> steps() {
        return RandomSteps.listsWithout(Set.of(Step.Kind.REOPEN), 250);
    }

    private Path directory() {
        return testDirectory().path();
    }

    private TestDirectory testDirectory() {
        return Objects.requireNonNull(directory);
    }

    private ExecutorService background() {
        return Objects.requireNonNull(background);
    }

    private FaultyLocalFiles files() {
        return Objects.requireNonNull(files);
    }

    private MemoryBudget budget() {
        return Objects.requireNonNull(budget);
    }
}
