package io.afterbay.cli.profile;

/**
 * One frame of a stack.
 *
 * @param className as of {@link Class#getName}
 */
public record Frame(String className, String method) {

    /** The class itself, or the one that it is nested in or a lambda of. */
    String outerClass() {
        int nested = className.indexOf('$');
        return nested < 0 ? className : className.substring(0, nested);
    }
}
