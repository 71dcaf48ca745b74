package io.afterbay.store.paged;

import io.afterbay.store.ListStore;

/** A state of lists, wherever they lie. */
interface ListState extends ListStore, State {}
