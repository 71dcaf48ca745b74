package io.afterbay.command.flink.sql;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Splits a script at the semicolons that end statements: not those in strings, quoted names and
 * comments, and not those within a statement, as in {@code EXECUTE STATEMENT SET BEGIN ...; ...;
 * END}, which only a parser can tell.
 */
public final class Script {
    private final String text;
    private int position;
    private int line = 1;
    private int statements;

    public Script(String text) {
        this.text = text;
    }

    /**
     * The next statement, or null at the end of the script.
     *
     * @param complete whether a text that ends with a semicolon is a statement, not the beginning
     *     of one
     */
    public @Nullable Statement next(Predicate<Statement> complete) {
        int start = skip(position);
        if (start == text.length()) {
            return null;
        }
        statements++;
        int startLine = line + lines(position, start);
        for (int end = endOfCode(start); ; end = endOfCode(end)) {
            Statement statement =
                    new Statement(
                            statements,
                            startLine,
                            "\n".repeat(startLine - 1) + text.substring(start, end));
            if (end == text.length() || complete.test(statement)) {
                line = startLine + lines(start, end);
                position = end;
                return statement;
            }
        }
    }

    private int lines(int from, int to) {
        return (int) text.substring(from, to).chars().filter(c -> c == '\n').count();
    }

    /** The first character of code, behind white space, comments and lone semicolons. */
    private int skip(int from) {
        int i = from;
        while (i < text.length()) {
            int next = skipComment(i);
            if (next == i) {
                char c = text.charAt(i);
                if (!Character.isWhitespace(c) && c != ';') {
                    return i;
                }
                next = i + 1;
            }
            i = next;
        }
        return i;
    }

    /** Behind the next semicolon that is code, or the end of the script. */
    private int endOfCode(int from) {
        int i = from;
        while (i < text.length()) {
            char c = text.charAt(i);
            int next = c == '\'' || c == '"' || c == '`' ? closing(c, i + 1) : skipComment(i);
            if (next > i) {
                i = next;
            } else {
                i++;
                if (c == ';') {
                    return i;
                }
            }
        }
        return i;
    }

    /** Behind a comment that begins here, or here. */
    private int skipComment(int i) {
        if (text.startsWith("--", i)) {
            return behind("\n", i);
        }
        boolean hint = text.startsWith("/*+", i);
        return text.startsWith("/*", i) && !hint ? behind("*/", i + 2) : i;
    }

    /** A quote within quotes is doubled, which looks like the end of one text and another. */
    private int closing(char quote, int from) {
        return behind(String.valueOf(quote), from);
    }

    private int behind(String mark, int from) {
        int found = text.indexOf(mark, from);
        return found < 0 ? text.length() : found + mark.length();
    }
}
