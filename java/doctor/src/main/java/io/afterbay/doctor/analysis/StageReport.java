package io.afterbay.doctor.analysis;

import java.util.OptionalDouble;

/**
 * One stage: an operator, a store, or a folder; or a database, if its column families are compared.
 *
 * @param alignment within the stage, see {@link Alignment}; empty if nothing can be compared
 */
public record StageReport(
        String name,
        int instances,
        Durations flushes,
        Durations compactions,
        OptionalDouble alignment) {}
