package io.afterbay.store.testkit;

import java.util.Collections;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Function;

/** One iterator after the other, each made when its turn comes: streams would read ahead. */
final class Concatenation<S, T> implements Iterator<T> {
    private final Iterator<S> sources;
    private final Function<S, Iterator<T>> open;
    private Iterator<T> present = Collections.emptyIterator();

    Concatenation(Iterator<S> sources, Function<S, Iterator<T>> open) {
        this.sources = sources;
        this.open = open;
    }

    @Override
    public boolean hasNext() {
        while (!present.hasNext() && sources.hasNext()) {
            present = open.apply(sources.next());
        }
        return present.hasNext();
    }

    @Override
    public T next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        return present.next();
    }
}
