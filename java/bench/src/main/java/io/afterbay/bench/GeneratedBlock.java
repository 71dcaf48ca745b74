package io.afterbay.bench;

/**
 * A part of a document that is generated, in a text that is written by hand. It lies between two
 * comments of their own lines: {@code <!-- generated: NAME -->} and {@code <!-- end: NAME -->}.
 */
public record GeneratedBlock(String name) {

    /** The document with new text in the block; the rest is untouched. */
    public String replace(String document, String text) {
        String begin = "<!-- generated: " + name + " -->\n";
        String end = "<!-- end: " + name + " -->\n";
        int from = document.indexOf(begin);
        int to = document.indexOf(end);
        if (from < 0 || to < from) {
            throw new IllegalArgumentException(
                    "the document needs the lines " + begin.strip() + " and " + end.strip());
        }
        return document.substring(0, from + begin.length()) + text + document.substring(to);
    }
}
