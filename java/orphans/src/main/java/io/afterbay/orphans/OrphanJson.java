package io.afterbay.orphans;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Locale;
import org.apache.flink.core.fs.Path;

/** A report for programs. Units are last in names; what is not known is null. */
public final class OrphanJson {
    private static final int FORMAT = 1;
    private static final ObjectMapper MAPPER =
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private OrphanJson() {}

    /**
     * The report as text.
     *
     * @param isDeleting whether files were deleted, rather than listed only
     */
    public static String of(OrphanReport report, boolean isDeleting) {
        ObjectNode root = MAPPER.createObjectNode();
        root.put("format", FORMAT);
        root.put("delete", isDeleting);
        root.put("older_than_s", report.olderThan().toSeconds());
        paths(root.putArray("searched"), report.searched());
        root.put("checkpoints_read", report.checkpoints());
        root.put("files_referenced", report.referenced());
        ArrayNode problems = root.putArray("problems");
        for (Problem problem : report.problems()) {
            problems.addObject()
                    .put("path", problem.path().toString())
                    .put("reason", problem.reason());
        }
        ArrayNode jobs = root.putArray("jobs");
        report.jobs().forEach(job -> job(jobs.addObject(), job, report.nowMs()));
        ObjectNode totals = root.putObject("totals");
        report.totals().forEach((verdict, total) -> total(totals.putObject(name(verdict)), total));
        total(totals.putObject("deleted"), report.total(Orphan::isDeleted));
        return text(root);
    }

    private static String text(ObjectNode root) {
        try {
            return MAPPER.writeValueAsString(root) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e); // a tree can be written
        }
    }

    private static void paths(ArrayNode node, List<Path> paths) {
        paths.forEach(path -> node.add(path.toString()));
    }

    private static String name(Verdict verdict) {
        return verdict.name().toLowerCase(Locale.ROOT);
    }

    private static void total(ObjectNode node, OrphanReport.Total total) {
        node.put("files", total.files()).put("bytes", total.bytes());
    }

    private static void job(ObjectNode node, JobOrphans job, long nowMs) {
        node.put("directory", job.directory().toString());
        paths(node.putArray("unfinished_checkpoints"), job.unfinished());
        paths(node.putArray("links"), job.links());
        ArrayNode files = node.putArray("files");
        job.orphans().forEach(orphan -> file(files.addObject(), orphan, nowMs));
    }

    private static void file(ObjectNode node, Orphan orphan, long nowMs) {
        StoredFile file = orphan.file();
        node.put("path", file.path().toString());
        node.put("bytes", file.bytes());
        if (file.modifiedMs() > 0) {
            node.put("age_s", Math.max(0, nowMs - file.modifiedMs()) / 1000);
        } else {
            node.putNull("age_s");
        }
        node.put("verdict", name(orphan.verdict()));
        node.put("is_deleted", orphan.isDeleted());
        node.put("failure", orphan.failure());
    }
}
