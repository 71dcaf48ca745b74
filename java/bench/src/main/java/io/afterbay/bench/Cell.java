package io.afterbay.bench;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Where the state of an experiment fits, and what is aimed at there. */
public enum Cell {
    IN_MEMORY("memory", "State in memory", "hashmap", 0.9),
    PAGE_CACHED("4x-page-cached", "State of 4x the memory, page-cached", "rocksdb-heap-timers", 2),
    LIMITED("4x-cgroup", "State of 4x the memory, under a cgroup limit", "rocksdb-heap-timers", 2),
    LARGE_PAGE_CACHED(
            "20x-page-cached", "State of 20x the memory, page-cached", "rocksdb-heap-timers", 2),
    LARGE_LIMITED(
            "20x-cgroup",
            "State of 20x the memory, under a cgroup limit",
            "rocksdb-heap-timers",
            2);

    private final String jsonName;
    private final String title;
    private final String rival;
    private final double aim;

    Cell(String jsonName, String title, String rival, double aim) {
        this.jsonName = jsonName;
        this.title = title;
        this.rival = rival;
        this.aim = aim;
    }

    /** What it is called in {@code bench/results}. */
    @JsonValue
    public String jsonName() {
        return jsonName;
    }

    /** The cell of that name in JSON. */
    @JsonCreator
    public static Cell of(String jsonName) {
        return Arrays.stream(values())
                .filter(cell -> cell.jsonName.equals(jsonName))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(unknown(jsonName)));
    }

    private static String unknown(String jsonName) {
        return Arrays.stream(values())
                .map(Cell::jsonName)
                .collect(Collectors.joining(", ", "cell '" + jsonName + "' is none of ", ""));
    }

    /** Whether the process has no room for the state in the page cache. */
    public boolean isLimited() {
        return this == LIMITED || this == LARGE_LIMITED;
    }

    /** Whether the state is at least twenty times the memory that the store has. */
    public boolean isLarge() {
        return this == LARGE_PAGE_CACHED || this == LARGE_LIMITED;
    }

    String title() {
        return title;
    }

    /** The backend that the aim is about. */
    String rival() {
        return rival;
    }

    /** Events per second that are aimed at, as a ratio to the rival's. */
    double aim() {
        return aim;
    }
}
