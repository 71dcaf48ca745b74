package io.afterbay.store.testkit;

/** The shapes of states. */
enum Shape {
    VALUES,
    LISTS,
    MAPS,
    TRIGGERS
}
