package io.afterbay.bench;

import java.util.Collections;
import java.util.List;

/** A table in Markdown; text in its fields may be Markdown itself. */
final class MarkdownTable {
    private final StringBuilder text = new StringBuilder();

    MarkdownTable(List<String> header) {
        row(header);
        text.append('|').append(String.join("", Collections.nCopies(header.size(), "---|")));
        text.append('\n');
    }

    /** With as many fields as the header. */
    void row(List<String> fields) {
        text.append("| ").append(String.join(" | ", fields)).append(" |\n");
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
