package io.afterbay.workloads.nexmark;

import java.util.function.Consumer;

/** Computes the rows of a query in plain Java: no engine, no windows API, one pass in order. */
interface Reference {
    void run(NexmarkOptions options, Consumer<Answer> rows);
}
