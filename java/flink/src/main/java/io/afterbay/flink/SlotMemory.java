package io.afterbay.flink;

import io.afterbay.store.MemoryBudget;
import java.io.IOException;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.memory.MemoryManager;
import org.apache.flink.runtime.memory.OpaqueMemoryResource;
import org.jspecify.annotations.Nullable;

/** The memory budget that the stores of one slot share, taken out of Flink's accounting. */
final class SlotMemory implements AutoCloseable {
    private static final String MANAGED = "afterbay-state-store-managed-memory";
    private static final String FIXED = "afterbay-state-store-fixed-memory";

    private final MemoryBudget budget;

    private SlotMemory(long bytes) {
        budget = new MemoryBudget(bytes);
    }

    MemoryBudget budget() {
        return budget;
    }

    /**
     * A lease on the slot's budget; the last lease that is closed gives the memory back.
     *
     * @param fixedBytes the budget; null for {@code managedFraction} of the slot's managed memory
     */
    static OpaqueMemoryResource<SlotMemory> lease(
            Environment env, @Nullable Long fixedBytes, double managedFraction) throws IOException {
        MemoryManager manager = env.getMemoryManager();
        try {
            return fixedBytes != null
                    ? manager.getExternalSharedMemoryResource(FIXED, SlotMemory::new, fixedBytes)
                    : manager.getSharedMemoryResourceForManagedMemory(
                            MANAGED, SlotMemory::new, managedFraction);
        } catch (Exception e) {
            throw new IOException(
                    "the state backend got no memory (%s); raise taskmanager.memory.managed.fraction or"
                                    .formatted(
                                            fixedBytes != null
                                                    ? fixedBytes + " bytes fixed"
                                                    : managedFraction + " of managed memory")
                            + " taskmanager.memory.managed.size, or set "
                            + AfterbayOptions.MANAGED_MEMORY.key()
                            + ": false and "
                            + AfterbayOptions.FIXED_MEMORY_PER_SLOT.key(),
                    e);
        }
    }

    /**
     * Called by Flink when the last lease has ended; the stores have given everything back by then.
     */
    @Override
    public void close() {}
}
