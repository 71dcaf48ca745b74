package io.afterbay.store.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.afterbay.store.MemoryBudget;
import io.afterbay.store.StateStore;
import io.afterbay.store.StoreOptions;
import io.afterbay.store.io.LocalFiles;
import io.afterbay.testing.TestForm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;

/**
 * Random operations on a store and on {@link ReferenceStore}, which must agree: all shapes, merges,
 * late appends, re-reads, held readers, snapshots that stay open, drops, and restoring a snapshot
 * into a store of other key groups; with memory from the least possible to plenty, few and many
 * keys, values from nothing to several pages. A failure prints the seed and the shortest failing
 * run that was found.
 *
 * <p>A test of a store extends this class. The runs of the normal form are always the same; the
 * long form looks for new ones.
 */
public abstract class StateStoreModel {
    protected abstract StateStore open(StoreOptions options);

    /** The least memory that a store works with. */
    protected abstract long smallestBudgetBytes();

    /**
     * How a run is set up.
     *
     * @param budgets how many times the smallest budget
     */
    record Setup(int budgets, int keys, boolean longKeys, int lastKeyGroup) {}

    @Property(
            tries = TestForm.MODEL_TRIES,
            seed = TestForm.SEED,
            edgeCases = EdgeCasesMode.NONE,
            shrinking = ShrinkingMode.BOUNDED)
    void agreesWithTheModel(@ForAll("setups") Setup setup, @ForAll("steps") List<Step> steps)
            throws IOException {
        run(setup, steps);
    }

    final void run(Setup setup, List<Step> steps) throws IOException {
        try (TestDirectory directory = TestDirectory.create("afterbay-model")) {
            run(setup, steps, directory.path());
            directory.deleteEmpty();
        }
    }

    private void run(Setup setup, List<Step> steps, Path directory) {
        ExecutorService background = Executors.newFixedThreadPool(2);
        MemoryBudget budget = new MemoryBudget(setup.budgets * smallestBudgetBytes());
        Keyspace keys = new Keyspace(setup.keys, setup.longKeys, 0, setup.lastKeyGroup);
        try (ModelRun run =
                new ModelRun(
                        this::open, directory, LocalFiles.system(), budget, background, keys)) {
            run.apply(steps);
        } finally {
            background.shutdown();
        }
        assertThat(budget.usedBytes()).as("memory in use after close").isZero();
        assertThat(budget.peakBytes()).isLessThanOrEqualTo(budget.totalBytes());
    }

    /**
     * A reopened store and its successor share the budget for a moment, so there are at least 2.
     */
    @Provide
    Arbitrary<Setup> setups() {
        return Combinators.combine(
                        Arbitraries.of(2, 2, 2, 3, 5, 16),
                        Arbitraries.of(1, 8, 60, 1000, 20_000),
                        Arbitraries.of(false, false, true),
                        Arbitraries.of(0, 3, 15))
                .as(Setup::new);
    }

    @Provide
    Arbitrary<List<Step>> steps() {
        return RandomSteps.listsWithout(Set.of(), TestForm.MODEL_STEPS);
    }
}
