package io.afterbay.doctor.report;

import io.afterbay.doctor.reading.InstanceLog;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Those of the options in the head of a log that decide when flushes and compactions run. */
final class DoctorOptions {
    private static final List<String> NAMES =
            List.of(
                    "level0_file_num_compaction_trigger",
                    "level0_slowdown_writes_trigger",
                    "level0_stop_writes_trigger",
                    "max_background_jobs",
                    "max_subcompactions",
                    "write_buffer_size",
                    "max_write_buffer_number",
                    "compaction_style",
                    "wal_dir");

    private DoctorOptions() {}

    static Map<String, String> of(InstanceLog log) {
        Map<String, String> result = new LinkedHashMap<>();
        for (String name : NAMES) {
            String value = log.options().get(name);
            if (value != null) {
                result.put(name, value);
            }
        }
        return result;
    }
}
