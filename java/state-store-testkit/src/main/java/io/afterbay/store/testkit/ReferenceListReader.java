package io.afterbay.store.testkit;

import io.afterbay.store.ListReader;
import io.afterbay.store.Slice;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The elements that a list had when the reader was made. Lists only ever grow at their end, and a
 * cleared one is replaced, so the first {@code size} elements stay as they are.
 */
final class ReferenceListReader implements ListReader {
    private final List<byte[]> elements;
    private final int size;
    private final BooleanSupplier valid;

    ReferenceListReader(List<byte[]> elements, BooleanSupplier valid) {
        this.elements = elements;
        this.size = elements.size();
        this.valid = valid;
    }

    @Override
    public long bytes() {
        checkValid();
        return elements.subList(0, size).stream().mapToLong(element -> element.length).sum();
    }

    @Override
    public long size() {
        checkValid();
        return size;
    }

    @Override
    public Elements elements() {
        checkValid();
        return new Pass();
    }

    private void checkValid() {
        if (!valid.getAsBoolean()) {
            throw new IllegalStateException("the list reader was used after it was released");
        }
    }

    private final class Pass implements Elements {
        private int next;

        @Override
        public boolean next(Slice into) {
            checkValid();
            if (next == size) {
                return false;
            }
            byte[] element = elements.get(next++);
            into.set(element, 0, element.length);
            return true;
        }
    }
}
