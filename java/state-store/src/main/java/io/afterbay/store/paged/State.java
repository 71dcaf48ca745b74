package io.afterbay.store.paged;

import io.afterbay.store.page.PageSource;

/** What every named state of a store has, whatever its shape. */
interface State {
    /** For messages. */
    String shape();

    /** Its content as it is now, to be read from a snapshot that is taken in the same moment. */
    FrozenState freeze(PageSource snapshot);

    /** Frees all pages. */
    void free();
}
