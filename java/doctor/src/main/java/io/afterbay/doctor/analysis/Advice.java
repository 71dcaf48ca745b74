package io.afterbay.doctor.analysis;

import java.util.List;

/**
 * One thing to set.
 *
 * @param name stable: {@code spread_triggers}, {@code delay_compactions}, {@code
 *     compaction_threads}, {@code flush_threads}
 * @param reason what was seen, and what it should change
 * @param place where the lines belong
 * @param lines as they are to be written
 */
public record Advice(String name, String reason, String place, List<String> lines) {}
