package io.afterbay.doctor.reading;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Takes the lines of the logs of one instance, in their order, and keeps the intervals.
 *
 * <p>A line of RocksDB is {@code 2026/11/23-02:51:51.123456 THREAD message}, in local time; lines
 * that a job buffered begin their message with {@code (Original Log Time ...)}. Events carry their
 * own time, in microseconds since 1970, so the local time matters only for stalls, and the first
 * event of a file tells what it is worth.
 */
final class LogParser {
    private static final byte[] EVENT = "EVENT_LOG_v1 ".getBytes(UTF_8);
    private static final byte[] ORIGINAL_TIME = "(Original Log Time ".getBytes(UTF_8);
    private static final Pattern OPTION =
            Pattern.compile("^\\s*Options\\.([A-Za-z0-9_.\\[\\]]+)\\s*:\\s*(\\S*)");
    private static final Pattern FAMILY = Pattern.compile("Options for column family \\[(.*)]");
    private static final Pattern VERSION = Pattern.compile("^RocksDB version: (\\S+)");
    private static final Pattern STALL =
            Pattern.compile("^(?:\\[.*] )?(?:Stalling|Stopping) writes because");
    private static final String TRIGGER = "level0_file_num_compaction_trigger";
    private static final String DEFAULT_FAMILY = "default";

    /** Jobs under way; more are those whose end is never logged. */
    private static final int MAX_JOBS = 4096;

    private final InstanceLog log;
    private final Tally tally;
    private final Map<String, Jobs> jobs = new HashMap<>();
    private Jobs underWay = new Jobs();
    private final LocalClock clock = new LocalClock();
    private String family = DEFAULT_FAMILY;
    private boolean hasEvents;

    /** Jobs under way in one database, by number. */
    private static final class Jobs {
        final Map<Integer, Event> flushes = new HashMap<>();
        final Map<Integer, Event> compactions = new HashMap<>();
    }

    LogParser(InstanceLog log, Tally tally) {
        this.log = log;
        this.tally = tally;
    }

    InstanceLog log() {
        return log;
    }

    /** Whether there is any flush, compaction or stall; complete after {@link #finish}. */
    boolean hasEvents() {
        return hasEvents || !log.stalls().isEmpty();
    }

    /**
     * @param database of which the file is a log: an instance may have several, one after the
     *     other, and each counts its jobs from the beginning
     */
    void beginFile(String database) {
        underWay = jobs.computeIfAbsent(database, key -> new Jobs());
        clock.flush(log.stalls());
        family = DEFAULT_FAMILY;
    }

    void finish() {
        clock.flush(log.stalls());
        for (Jobs left : jobs.values()) {
            tally.startsWithoutEnd += left.flushes.size() + left.compactions.size();
        }
    }

    void line(LogLines lines) {
        byte[] line = lines.line();
        int length = lines.length();
        if (lines.isCut()) {
            tally.cutLines++;
        }
        int message = LocalClock.endOfPrefix(line, length);
        if (message < 0) {
            foreign(line, length);
            return;
        }
        int start =
                Bytes.startsWith(line, message, length, ORIGINAL_TIME)
                        ? Bytes.indexOf(line, message, length, ") ") + 2
                        : message;
        if (Bytes.startsWith(line, start, length, EVENT)) {
            event(line, start + EVENT.length, length, clock.parse(line));
        } else {
            text(line, start, length);
        }
    }

    /** Some collectors of logs put words of their own in front of each line. */
    private void foreign(byte[] line, int length) {
        int event = Bytes.indexOf(line, 0, length, "EVENT_LOG_v1 ");
        if (event >= 0) {
            event(line, event + EVENT.length, length, Long.MIN_VALUE);
        } else if (length > 0) {
            tally.foreignLines++;
        }
    }

    /**
     * Collectors that pack lines into a string of JSON, XML or CSV write something else for a
     * quotation mark, such as {@code \"}: what is between the brace and the first name.
     */
    private void event(byte[] line, int from, int length, long localMicros) {
        int name = Bytes.indexOf(line, from, Math.min(length, from + 32), "time_micros");
        int quote = name - from - 1;
        if (quote > 1) {
            byte[] mark = Arrays.copyOfRange(line, from + 1, name);
            byte[] plain = Bytes.replaced(line, from, length, mark, (byte) '"');
            plainEvent(plain, 0, plain.length, localMicros);
        } else {
            plainEvent(line, from, length, localMicros);
        }
    }

    private void plainEvent(byte[] line, int from, int length, long localMicros) {
        Event event = Event.parse(line, from, length - from);
        if (event == null) {
            if (!mayLackJob(line, from, length)) {
                tally.damagedLines++;
            }
            return;
        }
        clock.observe(localMicros, event.timeMicros);
        switch (event.kind) {
            case "flush_started" -> started(underWay.flushes, event);
            case "table_file_creation" -> nameJob(event);
            case "flush_finished" -> flushFinished(event);
            case "compaction_started" -> started(underWay.compactions, event);
            case "compaction_finished" -> compactionFinished(event);
            default -> {} // deletions of files, recovery, trivial moves
        }
    }

    /**
     * Events of files and of recovery have no job in some versions; they are whole all the same.
     */
    private static boolean mayLackJob(byte[] line, int from, int length) {
        return length > from
                && line[length - 1] == '}'
                && Bytes.indexOf(line, from, length, "\"event\": \"flush_") < 0
                && Bytes.indexOf(line, from, length, "\"event\": \"compaction_") < 0;
    }

    private void started(Map<Integer, Event> kind, Event event) {
        if (kind.size() >= MAX_JOBS) {
            tally.startsWithoutEnd += kind.size();
            kind.clear();
        }
        if (kind.put(event.job, event) != null) {
            tally.startsWithoutEnd++;
        }
        counted();
    }

    /**
     * Flushes say their column family only by the table that they write; in older versions, such as
     * that of Flink 2.3, compactions do, too.
     */
    private void nameJob(Event table) {
        Event job = underWay.flushes.getOrDefault(table.job, underWay.compactions.get(table.job));
        if (job != null && table.columnFamily != null) {
            job.columnFamily = table.columnFamily;
        }
    }

    private void flushFinished(Event event) {
        Event start = underWay.flushes.remove(event.job);
        counted();
        if (start == null) {
            tally.endsWithoutStart++;
            return;
        }
        log.columnFamily(familyOf(start))
                .addFlush(start.timeMicros, event.timeMicros, start.flushReason);
    }

    private void compactionFinished(Event event) {
        Event start = underWay.compactions.remove(event.job);
        counted();
        if (start != null) {
            log.columnFamily(familyOf(start))
                    .addCompaction(
                            start.timeMicros,
                            event.timeMicros,
                            start.isForLevel0() ? start.level0Files : 0);
        } else if (event.compactionMicros >= 0) {
            log.columnFamily(DEFAULT_FAMILY)
                    .addCompaction(event.timeMicros - event.compactionMicros, event.timeMicros, 0);
        } else {
            tally.endsWithoutStart++;
        }
    }

    private void counted() {
        tally.events++;
        hasEvents = true;
    }

    private static String familyOf(Event start) {
        @Nullable String name = start.columnFamily;
        return name == null ? DEFAULT_FAMILY : name;
    }

    private void text(byte[] line, int from, int length) {
        if (!mayMatter(line, from, length)) {
            return;
        }
        String text = new String(line, from, length - from, UTF_8);
        Matcher matcher = OPTION.matcher(text);
        if (matcher.find()) {
            option(matcher.group(1), matcher.group(2));
        } else if ((matcher = FAMILY.matcher(text)).find()) {
            family = matcher.group(1);
        } else if ((matcher = VERSION.matcher(text)).find()) {
            log.setVersion(matcher.group(1));
        } else if (STALL.matcher(text).find()) {
            clock.keep(clock.parse(line), log.stalls());
        }
    }

    /** Most lines do not; this is cheaper than the expressions. */
    private static boolean mayMatter(byte[] line, int from, int length) {
        return Bytes.indexOf(line, from, Math.min(length, from + 200), "ptions") >= 0
                || Bytes.indexOf(line, from, Math.min(length, from + 20), "RocksDB version") >= 0
                || Bytes.indexOf(line, from, length, " writes because") >= 0;
    }

    private void option(String name, String value) {
        if (name.equals(TRIGGER)) {
            trigger(value);
        }
        log.options().putIfAbsent(name, value);
    }

    private void trigger(String value) {
        try {
            log.columnFamily(family).setTrigger(Integer.parseInt(value));
        } catch (NumberFormatException e) {
            tally.damagedLines++;
        }
    }
}
