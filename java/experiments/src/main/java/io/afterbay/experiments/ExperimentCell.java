package io.afterbay.experiments;

import io.afterbay.bench.Cell;
import java.util.List;

/**
 * One comparison of an experiment.
 *
 * @param query what runs, as it is called in the results
 * @param events in one closed loop
 * @param arguments what to type behind {@code ./afterbay}, where this process was started
 */
public record ExperimentCell(Cell cell, String query, long events, List<String> arguments) {}
